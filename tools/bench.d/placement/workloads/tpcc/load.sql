-- SPDX-License-Identifier: MIT
-- The tables of TPC-C and their first contents. :warehouses of them, everything else as the standard counts it:
-- 10 districts each, 3,000 customers and orders to a district, 100,000 items, one stock row per item and warehouse.
CREATE TABLE warehouse (w_id int PRIMARY KEY, w_name text, w_tax numeric(4,4), w_ytd numeric(14,2)) WITH (fillfactor = 10);
CREATE TABLE district (d_w_id int, d_id int, d_name text, d_tax numeric(4,4), d_ytd numeric(14,2), d_next_o_id int)
    WITH (fillfactor = 10);
CREATE TABLE customer (c_w_id int, c_d_id int, c_id int, c_first text, c_last text, c_credit char(2),
    c_discount numeric(4,4), c_balance numeric(12,2), c_ytd_payment numeric(12,2), c_payments int, c_data text)
    WITH (fillfactor = 80);
CREATE TABLE history (h_c_id int, h_c_d_id int, h_c_w_id int, h_d_id int, h_w_id int, h_date timestamp,
    h_amount numeric(6,2), h_data text);
CREATE TABLE orders (o_w_id int, o_d_id int, o_id int, o_c_id int, o_entry timestamp, o_carrier int, o_lines int);
CREATE TABLE new_order (no_w_id int, no_d_id int, no_o_id int);
CREATE TABLE order_line (ol_w_id int, ol_d_id int, ol_o_id int, ol_number int, ol_i_id int, ol_supply_w_id int,
    ol_delivered timestamp, ol_quantity int, ol_amount numeric(6,2), ol_dist_info char(24));
CREATE TABLE item (i_id int PRIMARY KEY, i_name text, i_price numeric(5,2), i_data text);
CREATE TABLE stock (s_w_id int, s_i_id int, s_quantity int, s_ytd int, s_orders int, s_remote int, s_dist char(24)[],
    s_data text) WITH (fillfactor = 90);

SELECT setseed(0.5);
INSERT INTO warehouse SELECT w, 'W' || w, 0.1, 300000 FROM generate_series(1, :warehouses) w;
INSERT INTO district SELECT w, d, 'D' || d, 0.1, 30000, 3001
    FROM generate_series(1, :warehouses) w, generate_series(1, 10) d;
INSERT INTO item SELECT i, 'item ' || i, 1 + i % 100, repeat(md5(i::text), 1) FROM generate_series(1, 100000) i;
INSERT INTO customer SELECT w, d, c, 'first ' || c, 'last ' || c % 1000, CASE c % 10 WHEN 0 THEN 'BC' ELSE 'GC' END,
        0.1, -10, 10, 1, repeat(md5(c::text), 12)
    FROM generate_series(1, :warehouses) w, generate_series(1, 10) d, generate_series(1, 3000) c;
INSERT INTO orders SELECT w, d, o, 1 + (o * 7919) % 3000, now(), CASE WHEN o <= 2100 THEN 1 + o % 10 END, 5 + o % 11
    FROM generate_series(1, :warehouses) w, generate_series(1, 10) d, generate_series(1, 3000) o;
INSERT INTO new_order SELECT o_w_id, o_d_id, o_id FROM orders WHERE o_carrier IS NULL;
INSERT INTO order_line SELECT o_w_id, o_d_id, o_id, n, 1 + floor(random() * 100000), o_w_id, o_entry, 5,
        CASE WHEN o_carrier IS NULL THEN 10 ELSE 0 END, 'dist'
    FROM orders, generate_series(1, o_lines) n;
INSERT INTO stock SELECT w, i, 50 + i % 50, 0, 0, 0, array_fill('dist'::char(24), ARRAY[10]), md5(i::text)
    FROM generate_series(1, :warehouses) w, generate_series(1, 100000) i;

ALTER TABLE district ADD PRIMARY KEY (d_w_id, d_id);
ALTER TABLE customer ADD PRIMARY KEY (c_w_id, c_d_id, c_id);
ALTER TABLE orders ADD PRIMARY KEY (o_w_id, o_d_id, o_id);
ALTER TABLE new_order ADD PRIMARY KEY (no_w_id, no_d_id, no_o_id);
ALTER TABLE order_line ADD PRIMARY KEY (ol_w_id, ol_d_id, ol_o_id, ol_number);
ALTER TABLE stock ADD PRIMARY KEY (s_w_id, s_i_id);
CREATE INDEX customer_by_name ON customer (c_w_id, c_d_id, c_last, c_first);
CREATE INDEX orders_by_customer ON orders (o_w_id, o_d_id, o_c_id, o_id);
CREATE EXTENSION pg_prewarm;
