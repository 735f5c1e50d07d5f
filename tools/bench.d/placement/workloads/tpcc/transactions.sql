-- SPDX-License-Identifier: MIT
-- The five transactions of TPC-C, one function each. Left out: the 1 % of new orders that roll back, remote payments.

-- The standard's non-uniform random number, 1 to n. Volatile: in a WHERE clause it would be drawn for each row.
CREATE FUNCTION nurand(a int, n int) RETURNS int LANGUAGE sql VOLATILE AS $$
    SELECT ((floor(random() * (a + 1))::int | floor(random() * n)::int) + a / 3) % n + 1
$$;

CREATE FUNCTION new_order(w int, d int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    number int; line int; item_id int; price numeric; supply int; amount int; nr_lines int := 5 + floor(random() * 11);
    items int[]; who int := nurand(1023, 3000);
BEGIN
    -- In order of items, so that two of these never wait for each other.
    SELECT array_agg(i ORDER BY i) INTO items FROM (SELECT DISTINCT nurand(8191, 100000) i FROM generate_series(1, nr_lines)) s;
    nr_lines := cardinality(items);
    PERFORM w_tax FROM warehouse WHERE w_id = w;
    UPDATE district SET d_next_o_id = d_next_o_id + 1 WHERE d_w_id = w AND d_id = d RETURNING d_next_o_id - 1 INTO number;
    PERFORM c_discount, c_last, c_credit FROM customer WHERE c_w_id = w AND c_d_id = d AND c_id = who;
    INSERT INTO orders VALUES (w, d, number, who, now(), NULL, nr_lines);
    INSERT INTO new_order VALUES (w, d, number);
    FOR line IN 1 .. nr_lines LOOP
        item_id := items[line];
        supply := w;
        amount := 1 + floor(random() * 10);
        SELECT i_price INTO price FROM item WHERE i_id = item_id;
        UPDATE stock SET s_quantity = CASE WHEN s_quantity >= amount + 10 THEN s_quantity - amount
                ELSE s_quantity - amount + 91 END, s_ytd = s_ytd + amount, s_orders = s_orders + 1
            WHERE s_w_id = supply AND s_i_id = item_id;
        INSERT INTO order_line VALUES (w, d, number, line, item_id, supply, NULL, amount, amount * price, 'dist');
    END LOOP;
END $$;

CREATE FUNCTION payment(w int, d int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    amount numeric := 1 + floor(random() * 4999); who int := nurand(1023, 3000);
    name text := 'last ' || nurand(255, 1000) - 1;
BEGIN
    UPDATE district SET d_ytd = d_ytd + amount WHERE d_w_id = w AND d_id = d;
    IF random() < 0.6 THEN  -- by last name: the middle one of those who have it
        SELECT c_id INTO who FROM (SELECT c_id, row_number() OVER (ORDER BY c_first) n, count(*) OVER () of FROM customer
            WHERE c_w_id = w AND c_d_id = d AND c_last = name) s WHERE n = (of + 1) / 2;
    END IF;
    UPDATE customer SET c_balance = c_balance - amount, c_ytd_payment = c_ytd_payment + amount, c_payments = c_payments + 1
        WHERE c_w_id = w AND c_d_id = d AND c_id = who;
    INSERT INTO history VALUES (who, d, w, d, w, now(), amount, 'payment');
    UPDATE warehouse SET w_ytd = w_ytd + amount WHERE w_id = w;
END $$;

CREATE FUNCTION order_status(w int, d int) RETURNS bigint LANGUAGE sql AS $$
    SELECT count(ol_amount) FROM order_line, (SELECT o_id FROM orders
        WHERE o_w_id = w AND o_d_id = d AND o_c_id = (SELECT nurand(1023, 3000)) ORDER BY o_id DESC LIMIT 1) last
    WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = last.o_id
$$;

CREATE FUNCTION delivery(w int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    d int; number int; who int; total numeric;
BEGIN
    FOR d IN 1 .. 10 LOOP
        DELETE FROM new_order WHERE no_w_id = w AND no_d_id = d AND no_o_id =
                (SELECT min(no_o_id) FROM new_order WHERE no_w_id = w AND no_d_id = d) RETURNING no_o_id INTO number;
        CONTINUE WHEN number IS NULL;  -- another delivery took it
        UPDATE orders SET o_carrier = 1 WHERE o_w_id = w AND o_d_id = d AND o_id = number RETURNING o_c_id INTO who;
        UPDATE order_line SET ol_delivered = now() WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = number;
        SELECT sum(ol_amount) INTO total FROM order_line WHERE ol_w_id = w AND ol_d_id = d AND ol_o_id = number;
        UPDATE customer SET c_balance = c_balance + total WHERE c_w_id = w AND c_d_id = d AND c_id = who;
    END LOOP;
END $$;

CREATE FUNCTION stock_level(w int, d int) RETURNS bigint LANGUAGE sql AS $$
    SELECT count(DISTINCT s_i_id) FROM district, order_line, stock
    WHERE d_w_id = w AND d_id = d AND ol_w_id = w AND ol_d_id = d AND ol_o_id BETWEEN d_next_o_id - 20 AND d_next_o_id - 1
        AND s_w_id = w AND s_i_id = ol_i_id AND s_quantity < 15
$$;

-- Rows that break a consistency condition of the standard (3.3.2.1 to 3.3.2.4); 0 when all is well.
CREATE FUNCTION wrong_values() RETURNS bigint LANGUAGE sql AS $$
    SELECT (SELECT count(*) FROM warehouse WHERE w_ytd <> (SELECT sum(d_ytd) FROM district WHERE d_w_id = w_id))
        + (SELECT count(*) FROM district WHERE d_next_o_id - 1 <>
            (SELECT max(o_id) FROM orders WHERE o_w_id = d_w_id AND o_d_id = d_id))
        + (SELECT count(*) FROM (SELECT max(no_o_id) - min(no_o_id) + 1 - count(*) gap FROM new_order
            GROUP BY no_w_id, no_d_id) s WHERE gap <> 0)
        + (SELECT count(*) FROM orders WHERE o_id > 3000 AND o_lines <>
            (SELECT count(*) FROM order_line WHERE ol_w_id = o_w_id AND ol_d_id = o_d_id AND ol_o_id = o_id))
$$;
