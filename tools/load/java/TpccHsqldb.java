// SPDX-License-Identifier: MIT
// TPC-C-like transactions on HSQLDB, database and driver in one JVM. Stands in for VoltDB: both keep their tables in
// memory, but here they are Java objects, which the garbage collector moves.
//
// Speaks the protocol of the other loads (tools/load/README.md): "ready", waits for a line on stdin, "run" once a
// second, "end" after SIGTERM. Rows are larger and fewer than the standard's, so that loading takes little time.
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;
import sun.misc.Signal;

public final class TpccHsqldb {
    private static final int WAREHOUSES = 2, DISTRICTS = 10, WARM_UP = 200, MAX_GAPS = 1 << 20, PIECE = 64;
    private static final int STOCK_BYTES = 16 << 10, CUSTOMER_BYTES = 16 << 10;

    private static final String[] TABLES = {
        "warehouse (w INT PRIMARY KEY, ytd BIGINT)",
        "district (w INT, d INT, ytd BIGINT, next_o INT, PRIMARY KEY (w, d))",
        "customer (w INT, d INT, c INT, balance BIGINT, payments INT, data VARCHAR(16384), PRIMARY KEY (w, d, c))",
        "history (w INT, d INT, c INT, amount BIGINT)",
        "orders (w INT, d INT, o INT, c INT, nr_lines INT, PRIMARY KEY (w, d, o))",
        "new_order (w INT, d INT, o INT, PRIMARY KEY (w, d, o))",
        "order_line (w INT, d INT, o INT, n INT, i INT, quantity INT, amount BIGINT, PRIMARY KEY (w, d, o, n))",
        "item (i INT PRIMARY KEY, price INT)",
        "stock (w INT, i INT, quantity INT, ytd INT, data VARCHAR(16384), PRIMARY KEY (w, i))",
    };

    private static volatile boolean isStopAsked;

    private final int items, customers;  // per warehouse, per district
    private final Connection link = DriverManager.getConnection("jdbc:hsqldb:mem:tpcc", "SA", "");
    private final Map<String, PreparedStatement> prepared = new HashMap<>();
    private final SplittableRandom random = new SplittableRandom(1);
    private long wrong;

    private TpccHsqldb(int items, int customers) throws SQLException {
        this.items = items;
        this.customers = customers;
        link.setAutoCommit(false);
        for (String table : TABLES) {
            link.createStatement().execute("CREATE MEMORY TABLE " + table);
        }
        for (int w = 1; w <= WAREHOUSES; w++) {
            loadStock(w);
            loadCustomers(w);
        }
        link.commit();
    }

    private PreparedStatement bind(String sql, Object... values) throws SQLException {
        PreparedStatement statement = prepared.get(sql);
        if (statement == null) {
            statement = link.prepareStatement(sql);
            prepared.put(sql, statement);
        }
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
        return statement;
    }

    private void run(String sql, Object... values) throws SQLException {
        bind(sql, values).executeUpdate();
    }

    /** One number; 0 when there is none. */
    private int ask(String sql, Object... values) throws SQLException {
        try (ResultSet rows = bind(sql, values).executeQuery()) {
            return rows.next() ? rows.getInt(1) : 0;
        }
    }

    private static char letter(int key) {
        return (char) ('!' + Integer.remainderUnsigned(key * 0x9e3779b1, 94));
    }

    /**
     * One array and no copy, so that a large one can be allocated where it stays (-XX:PretenureSizeThreshold). Of a longer
     * piece, because repeating one letter fills byte by byte.
     */
    private static String data(int key, int bytes) {
        return String.valueOf(letter(key)).repeat(PIECE).repeat(bytes / PIECE);
    }

    /** Reads one letter of each cache line of column 1. */
    private void check(int key, int bytes, String sql, Object... values) throws SQLException {
        try (ResultSet rows = bind(sql, values).executeQuery()) {
            String data = rows.next() ? rows.getString(1) : "";
            boolean isRight = data.length() == bytes;
            for (int i = 0; isRight && i < bytes; i += 64) {
                isRight = data.charAt(i) == letter(key);
            }
            wrong += isRight ? 0 : 1;
        }
    }

    private void loadStock(int w) throws SQLException {
        run("INSERT INTO warehouse VALUES (?, 0)", w);
        for (int i = 1; i <= items; i++) {
            if (w == 1) {
                run("INSERT INTO item VALUES (?, ?)", i, 1 + i % 100);
            }
            run("INSERT INTO stock VALUES (?, ?, ?, 0, ?)", w, i, 50 + i % 50, data(i, STOCK_BYTES));
        }
    }

    private void loadCustomers(int w) throws SQLException {
        for (int d = 1; d <= DISTRICTS; d++) {
            run("INSERT INTO district VALUES (?, ?, 0, 1)", w, d);
            for (int c = 1; c <= customers; c++) {
                run("INSERT INTO customer VALUES (?, ?, ?, 0, 0, ?)", w, d, c, data(c, CUSTOMER_BYTES));
            }
        }
    }

    /** The standard's non-uniform random number, 1 to n. */
    private int nurand(int a, int n) {
        return ((random.nextInt(a + 1) | random.nextInt(n)) + a / 3) % n + 1;
    }

    private int drawCustomer() {
        return nurand(1023, customers);
    }

    private void newOrder(int w, int d) throws SQLException {
        int c = drawCustomer(), nrLines = 5 + random.nextInt(11);
        int o = ask("SELECT next_o FROM district WHERE w = ? AND d = ?", w, d);
        run("UPDATE district SET next_o = next_o + 1 WHERE w = ? AND d = ?", w, d);
        check(c, CUSTOMER_BYTES, "SELECT data FROM customer WHERE w = ? AND d = ? AND c = ?", w, d, c);
        run("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", w, d, o, c, nrLines);
        run("INSERT INTO new_order VALUES (?, ?, ?)", w, d, o);
        for (int n = 1; n <= nrLines; n++) {
            int i = nurand(8191, items), quantity = 1 + random.nextInt(10);
            int price = ask("SELECT price FROM item WHERE i = ?", i);
            check(i, STOCK_BYTES, "SELECT data FROM stock WHERE w = ? AND i = ?", w, i);
            run("UPDATE stock SET quantity = MOD(quantity + 91 - ?, 91), ytd = ytd + ? WHERE w = ? AND i = ?",
                quantity, quantity, w, i);
            run("INSERT INTO order_line VALUES (?, ?, ?, ?, ?, ?, ?)", w, d, o, n, i, quantity, (long) quantity * price);
        }
    }

    private void payment(int w, int d) throws SQLException {
        int c = drawCustomer();
        long amount = 1 + random.nextInt(4999);
        check(c, CUSTOMER_BYTES, "SELECT data FROM customer WHERE w = ? AND d = ? AND c = ?", w, d, c);
        run("UPDATE customer SET balance = balance - ?, payments = payments + 1 WHERE w = ? AND d = ? AND c = ?",
            amount, w, d, c);
        run("UPDATE district SET ytd = ytd + ? WHERE w = ? AND d = ?", amount, w, d);
        run("UPDATE warehouse SET ytd = ytd + ? WHERE w = ?", amount, w);
        run("INSERT INTO history VALUES (?, ?, ?, ?)", w, d, c, amount);
    }

    private void orderStatus(int w, int d) throws SQLException {
        int o = ask("SELECT next_o FROM district WHERE w = ? AND d = ?", w, d) - 1 - random.nextInt(20);
        int c = ask("SELECT c FROM orders WHERE w = ? AND d = ? AND o = ?", w, d, o);
        if (c != 0) {
            check(c, CUSTOMER_BYTES, "SELECT data FROM customer WHERE w = ? AND d = ? AND c = ?", w, d, c);
            ask("SELECT SUM(amount) FROM order_line WHERE w = ? AND d = ? AND o = ?", w, d, o);
        }
    }

    private void delivery(int w) throws SQLException {
        for (int d = 1; d <= DISTRICTS; d++) {
            int o = ask("SELECT MIN(o) FROM new_order WHERE w = ? AND d = ?", w, d);
            if (o == 0) {
                continue;
            }
            run("DELETE FROM new_order WHERE w = ? AND d = ? AND o = ?", w, d, o);
            int c = ask("SELECT c FROM orders WHERE w = ? AND d = ? AND o = ?", w, d, o);
            int total = ask("SELECT SUM(amount) FROM order_line WHERE w = ? AND d = ? AND o = ?", w, d, o);
            run("UPDATE customer SET balance = balance + ? WHERE w = ? AND d = ? AND c = ?", (long) total, w, d, c);
        }
    }

    private void stockLevel(int w, int d) throws SQLException {
        int next = ask("SELECT next_o FROM district WHERE w = ? AND d = ?", w, d);
        ask("SELECT COUNT(DISTINCT s.i) FROM order_line l JOIN stock s ON s.w = l.w AND s.i = l.i "
            + "WHERE l.w = ? AND l.d = ? AND l.o >= ? AND s.quantity < 15", w, d, next - 20);
    }

    private void transaction() throws SQLException {
        int w = 1 + random.nextInt(WAREHOUSES), d = 1 + random.nextInt(DISTRICTS), percent = random.nextInt(100);
        if (percent < 45) {
            newOrder(w, d);
        } else if (percent < 88) {
            payment(w, d);
        } else if (percent < 92) {
            orderStatus(w, d);
        } else if (percent < 96) {
            delivery(w);
        } else {
            stockLevel(w, d);
        }
        link.commit();
    }

    /** Rows that break a consistency condition of the standard, and texts that were not what they must be. */
    private long wrongValues() throws SQLException {
        return wrong
            + ask("SELECT COUNT(*) FROM warehouse a WHERE ytd <> (SELECT SUM(ytd) FROM district b WHERE b.w = a.w)")
            + ask("SELECT COUNT(*) FROM district a WHERE next_o - 1 <> "
                + "(SELECT COALESCE(MAX(o), 0) FROM orders b WHERE b.w = a.w AND b.d = a.d)")
            + ask("SELECT COUNT(*) FROM orders a WHERE nr_lines <> "
                + "(SELECT COUNT(*) FROM order_line b WHERE b.w = a.w AND b.d = a.d AND b.o = a.o)");
    }

    private void measure() throws SQLException {
        int[] gapsUs = new int[MAX_GAPS];
        long ops = 0, last = System.nanoTime(), reportAt = last + 1_000_000_000L;
        while (!isStopAsked) {
            transaction();
            long now = System.nanoTime();
            gapsUs[(int) (ops % MAX_GAPS)] = (int) ((now - last) / 1000);
            last = now;
            ops++;
            if (now >= reportAt) {
                System.out.printf("{\"verb\": \"run\", \"ops\": %d}%n", ops);
                reportAt = now + 1_000_000_000L;
            }
        }
        int[] gaps = ops == 0 ? new int[1] : Arrays.copyOf(gapsUs, (int) Math.min(ops, MAX_GAPS));
        Arrays.sort(gaps);
        int end = gaps.length - 1;
        System.out.printf("{\"verb\": \"end\", \"ops\": %d, \"wrong_values\": %d, \"gap_p50_us\": %d, \"gap_p99_us\": %d, "
            + "\"gap_max_us\": %d}%n", ops, wrongValues(), gaps[end / 2], gaps[(int) (end * 99L / 100)], gaps[end]);
    }

    /** Arguments: items, customers per district. */
    public static void main(String[] words) throws Exception {
        Signal.handle(new Signal("TERM"), signal -> isStopAsked = true);
        TpccHsqldb load = new TpccHsqldb(Integer.parseInt(words[0]), Integer.parseInt(words[1]));
        for (int i = 0; i < WARM_UP; i++) {
            load.transaction();
        }
        System.out.printf("{\"verb\": \"ready\", \"pid\": %d}%n", ProcessHandle.current().pid());
        while (System.in.read() > '\n') {
            continue;
        }
        load.measure();
        System.exit(0);  // HSQLDB's timer thread would go on
    }
}
