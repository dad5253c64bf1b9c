package weirnats_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/64ed045f/weir/weirnats"
)

// The functions order and relay are those of docs/migrating.md, which a test of the root module compares with this file.

// order stores an order and the mail about it: both, or neither.
func order(ctx context.Context, db *sql.DB, id string, m Mail) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	if _, err := tx.ExecContext(ctx, "INSERT INTO orders (id) VALUES ($1)", id); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO outbox (id, recipient) VALUES ($1, $2)", "order "+id, m.To); err != nil {
		return err
	}
	return tx.Commit()
}

// relay moves the mails of the outbox to the queue.
func relay(ctx context.Context, db *sql.DB, queue *weirnats.Queue[Mail]) error {
	rows, err := db.QueryContext(ctx, "SELECT id, recipient FROM outbox LIMIT 100")
	if err != nil {
		return err
	}
	defer rows.Close()
	var ids []string
	var mails []Mail
	for rows.Next() {
		var id, to string
		if err := rows.Scan(&id, &to); err != nil {
			return err
		}
		ids, mails = append(ids, id), append(mails, Mail{To: to})
	}
	if err := rows.Err(); err != nil {
		return err
	}
	n, err := queue.PutAll(ctx, mails, func(i int) string { return ids[i] })
	for _, id := range ids[:n] { // if the program ends here, the next call puts them again, and the queue drops them
		if _, err := db.ExecContext(ctx, "DELETE FROM outbox WHERE id = $1", id); err != nil {
			return err
		}
	}
	return err
}

func TestAnOutboxPutsEachMailOnceWhateverFails(t *testing.T) {
	tables := newTables()
	db := sql.OpenDB(tables)
	defer db.Close()
	queue := open[Mail](t, t.TempDir(), "mail")
	ctx := t.Context()
	for _, id := range []string{"1", "2", "3"} {
		noError(t, order(ctx, db, id, Mail{To: "customer " + id}))
	}
	down := errors.New("the database is down")
	tables.fails = map[string]error{"INSERT INTO outbox": down}
	isError(t, order(ctx, db, "4", Mail{To: "customer 4"}), down)
	equal(t, "orders", tables.text("orders"), "1 2 3")
	tables.fails = map[string]error{"DELETE": down}
	isError(t, relay(ctx, db, queue), down) // as if the program ended between Put and the deletion
	equal(t, "mails in the outbox", tables.text("outbox"), "order 1 order 2 order 3")
	tables.fails = nil
	noError(t, relay(ctx, db, queue))
	equal(t, "mails in the outbox", tables.text("outbox"), "")
	noError(t, relay(ctx, db, queue))
	s, err := queue.Stats(ctx)
	noError(t, err)
	equal(t, "mails that the queue has accepted", s.Accepted, 3)
}

// tables are a database of rows of texts, the first of which is the key. It knows the statements of this file.
type tables struct {
	mu    sync.Mutex
	rows  map[string][][]string // by the name of the table
	fails map[string]error      // by the beginning of statements
}

func newTables() *tables { return &tables{rows: make(map[string][][]string)} }

// text returns the keys of a table.
func (t *tables) text(table string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var keys []string
	for _, row := range t.rows[table] {
		keys = append(keys, row[0])
	}
	return strings.Join(keys, " ")
}

func (t *tables) Connect(context.Context) (driver.Conn, error) { return &tablesConn{t: t}, nil }
func (t *tables) Driver() driver.Driver                        { return nil }

// tablesConn is a connection; before is what its transaction began with.
type tablesConn struct {
	t      *tables
	before map[string][][]string
}

func (c *tablesConn) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }
func (c *tablesConn) Close() error                        { return nil }

func (c *tablesConn) Begin() (driver.Tx, error) {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	c.before = make(map[string][][]string)
	for name, rows := range c.t.rows {
		c.before[name] = slices.Clone(rows)
	}
	return c, nil
}

func (c *tablesConn) Commit() error { return nil }

func (c *tablesConn) Rollback() error {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	c.t.rows = c.before
	return nil
}

func (c *tablesConn) ExecContext(_ context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	for begin, err := range c.t.fails {
		if strings.HasPrefix(query, begin) {
			return nil, err
		}
	}
	var row []string
	for _, a := range args {
		row = append(row, a.Value.(string))
	}
	words := strings.Fields(query)
	switch name := words[2]; words[0] {
	case "INSERT":
		c.t.rows[name] = append(c.t.rows[name], row)
	case "DELETE":
		c.t.rows[name] = slices.DeleteFunc(c.t.rows[name], func(r []string) bool { return r[0] == row[0] })
	default:
		return nil, errors.ErrUnsupported
	}
	return driver.RowsAffected(1), nil
}

func (c *tablesConn) QueryContext(_ context.Context, query string, _ []driver.NamedValue) (driver.Rows, error) {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	_, name, _ := strings.Cut(query, " FROM ")
	name, _, _ = strings.Cut(name, " ")
	return &tablesRows{slices.Clone(c.t.rows[name])}, nil
}

type tablesRows struct{ left [][]string }

func (r *tablesRows) Columns() []string { return []string{"id", "recipient"} }
func (r *tablesRows) Close() error      { return nil }

func (r *tablesRows) Next(to []driver.Value) error {
	if len(r.left) == 0 {
		return io.EOF
	}
	for i, text := range r.left[0] {
		to[i] = text
	}
	r.left = r.left[1:]
	return nil
}
