package reuse

import (
	"maps"
	"reflect"
	"slices"
	"unsafe"
)

// The quarantine holds objects that were put, and the ledger looks at them from time to time.
const (
	maxHeld      = 1024     // objects
	maxHeldBytes = 16 << 20 // bytes of overwritten objects; but the newest object stays, whatever its size
	looks        = 8        // objects looked at in each operation,
	looksBytes   = 64 << 10 // or fewer objects, if they have this many bytes
)

// ledger holds what the checks know. The lock of the watch guards it.
type ledger struct {
	accounts map[any]*account // by pool
	order    []*account
	records  map[identity]*record // objects that are out, being put, or in quarantine
	poisons  map[reflect.Type]reflect.Value
	stacks   map[callers]*stack
	held     []*record // the quarantine, oldest first
	bytes    int       // overwritten bytes in held
	next     int       // index in held of the next object to look at
	faults   []string
}

func newLedger() ledger {
	return ledger{
		accounts: map[any]*account{},
		records:  map[identity]*record{},
		poisons:  map[reflect.Type]reflect.Value{},
		stacks:   map[callers]*stack{},
	}
}

// identity identifies an object. Two live objects of one type never have the same identity.
type identity struct {
	kind reflect.Type
	at   uintptr // a uintptr, so that it keeps nothing alive
}

// identify returns the identity of an object, if the object has one. The identity of a slice is the end of
// its array, which the slice shares with slices cut off its front.
func identify(object reflect.Value) (id identity, named bool) {
	if !object.IsValid() {
		return id, false
	}
	kind := object.Type()
	var at unsafe.Pointer
	switch object.Kind() {
	case reflect.Pointer:
		if kind.Elem().Size() > 0 {
			at = object.UnsafePointer()
		}
	case reflect.Map, reflect.Chan, reflect.UnsafePointer:
		at = object.UnsafePointer()
	case reflect.Slice:
		if size := kind.Elem().Size(); size > 0 && object.Cap() > 0 {
			// Safe: the last element is within the array, and no code turns the number back into a pointer.
			at = unsafe.Add(object.UnsafePointer(), uintptr(object.Cap()-1)*size)
		}
	default:
	}
	return identity{kind, uintptr(at)}, at != nil
}

// record is what the ledger knows of one object.
type record struct {
	account  *account
	id       identity      // zero if the object has none
	object   reflect.Value // keeps the object alive; invalid for slices that are out
	array    []byte        // of a buffer in quarantine, up to its end; also kept alive
	got, put *stack        // nil if this did not happen, or is not known
	changed  []func() string
	size     int // number of bytes that changed watches
}

// account is what the ledger knows of one pool.
type account struct {
	pool interface {
		onlyChecked() bool
		leftOut()
	}
	object  string // the type of its objects
	out     map[identity]*record
	unnamed map[*stack]int // how many objects without identity were got, by place
	pieces  int            // the sum of unnamed
	others  int            // unknown objects that were put; each counts as the return of one that is out
	grows   bool           // slices were got: an object may come back as another array
}

// missing returns how many of the account's objects are out.
func (a *account) missing() int { return len(a.out) + a.pieces - a.others }

// got records that an object was handed out.
func (l *ledger) got(a *account, object reflect.Value, call callers) {
	got := l.stack(call)
	id, named := identify(object)
	if !named {
		a.unnamed[got]++
		a.pieces++
		return
	}
	r := &record{account: a, id: id, got: got}
	if object.Kind() == reflect.Slice {
		a.grows = true
	} else {
		r.object = object // kept alive, so that no other object can have this identity
	}
	if old := l.records[id]; old != nil {
		if old.object.IsValid() {
			l.fault(a.object+" returned by New is not new",
				part{"got", got}, part{"got before", old.got}, part{"put before", old.put})
			return
		}
		l.lose(old)
	}
	l.records[id] = r
	a.out[id] = r
}

// lose takes the identity from an object that is out, since another object has that identity now.
func (l *ledger) lose(r *record) {
	delete(l.records, r.id)
	delete(r.account.out, r.id)
	r.account.unnamed[r.got]++
	r.account.pieces++
}

// put records that an object comes back. It returns nil if the object must not be kept.
func (l *ledger) put(a *account, object reflect.Value, empty bool, call callers) *record {
	put := l.stack(call)
	id, named := identify(object)
	r := l.records[id]
	if r != nil && r.put == nil && r.account != a && !r.object.IsValid() {
		l.lose(r) // the array of the other pool may be garbage, and this a new array at the same address
		r = nil
	}
	if array := l.ofArray(arrayOf(object)); array != nil && array.put != nil {
		if r != nil {
			delete(l.records, id)
			delete(r.account.out, id)
			l.rest(r.account)
		}
		l.fault(a.object+" put twice", part{"put", put}, part{"put before", array.put}, part{"got", array.got})
		return nil
	}
	switch {
	case r == nil:
		if !l.matchReturn(a) && !empty && a.pool.onlyChecked() {
			l.fault(a.object+" put without Get", part{"put", put})
			return nil
		}
		if empty {
			return nil
		}
		r = &record{account: a}
		if named {
			r.id = id
			l.records[id] = r
		}
	case r.put != nil:
		l.fault(a.object+" put twice", part{"put", put}, part{"put before", r.put}, part{"got", r.got})
		return nil
	case r.account != a:
		delete(l.records, id)
		delete(r.account.out, id)
		l.rest(r.account)
		l.fault(a.object+" put into another pool", part{"put", put}, part{"got", r.got})
		return nil
	default:
		delete(a.out, id)
		l.rest(a)
	}
	r.object, r.put = object, put
	return r
}

// matchReturn counts the Put of an unknown object as the return of an object that is out and cannot be
// recognized. It returns false if no such object is out.
func (l *ledger) matchReturn(a *account) bool {
	open := a.pieces - a.others
	if a.grows {
		open = a.missing()
	}
	if open <= 0 {
		return false
	}
	a.others++
	l.rest(a)
	return true
}

// rest forgets the places where callers got objects, once as many objects have come back.
func (l *ledger) rest(a *account) {
	if !a.grows {
		if a.pieces > a.others {
			return
		}
	} else {
		if a.missing() > 0 {
			return
		}
		for id := range a.out {
			delete(l.records, id)
		}
		clear(a.out)
	}
	clear(a.unnamed)
	a.pieces, a.others = 0, 0
}

// forget drops the record of an object that is not kept.
func (l *ledger) forget(r *record) {
	if l.records[r.id] == r {
		delete(l.records, r.id)
	}
	if l.ofArray(r.array) == r {
		id, _ := identify(reflect.ValueOf(r.array))
		delete(l.records, id)
	}
}

// ofArray returns the record of the array of a buffer: that of a slice, or that of another buffer in quarantine.
func (l *ledger) ofArray(array []byte) *record {
	id, _ := identify(reflect.ValueOf(array))
	return l.records[id]
}

// holdArray notes the array of a buffer in quarantine: a slice of it must not be put, either. A slice that is out and was put as a part of the buffer is back.
func (l *ledger) holdArray(r *record, array []byte) {
	id, named := identify(reflect.ValueOf(array))
	if !named {
		return
	}
	if slice := l.records[id]; slice != nil {
		if slice.put != nil {
			return
		}
		delete(slice.account.out, id)
		l.rest(slice.account)
	}
	r.array, l.records[id] = array, r
}

// hold adds an object that was put to the quarantine.
func (l *ledger) hold(r *record, object reflect.Value, poison bool) {
	if l.records[r.id] != r { // without identity, or from before the checks began
		return
	}
	if poison {
		l.holdArray(r, arrayOf(object))
		r.changed, r.size = l.overwrite(object)
	}
	l.held = append(l.held, r)
	l.bytes += r.size
	for len(l.held) > maxHeld || l.bytes > maxHeldBytes && len(l.held) > 1 {
		oldest := l.held[0]
		l.held[0] = nil
		l.held = l.held[1:]
		l.lookAt(oldest)
		l.bytes -= oldest.size
		l.forget(oldest)
		l.next--
	}
}

// look looks at the next n objects in quarantine, or at fewer once it has seen size bytes.
func (l *ledger) look(n, size int) {
	for range min(n, len(l.held)) {
		if l.next < 0 || l.next >= len(l.held) {
			l.next = 0
		}
		r := l.held[l.next]
		l.lookAt(r)
		l.next++
		if size -= r.size; size <= 0 {
			return
		}
	}
}

func (l *ledger) lookAt(r *record) {
	for _, changed := range r.changed {
		if what := changed(); what != "" {
			l.fault(r.account.object+" used after Put: "+what+" was written", part{"put", r.put}, part{"got", r.got})
			r.changed = nil // once is enough
			return
		}
	}
}

// close reports the objects of all pools that were not put back.
func (l *ledger) close() {
	for _, a := range l.order {
		missing := a.missing()
		if missing <= 0 {
			continue
		}
		a.pool.leftOut()
		places := maps.Clone(a.unnamed)
		for _, r := range a.out {
			places[r.got]++
		}
		l.missing(a, missing, places)
	}
}

// missing reports that missing objects of a pool are out, and the places where objects were got.
func (l *ledger) missing(a *account, missing int, places map[*stack]int) {
	stacks := slices.SortedFunc(maps.Keys(places), func(a, b *stack) int { return a.order - b.order })
	var parts []part
	got := 0
	for _, s := range stacks {
		got += places[s]
		parts = append(parts, part{times(places[s], "got"), s})
	}
	title := a.object + " not put back"
	if got > missing {
		title = times(missing, title) + ", of " + times(got, "got here")
	}
	l.fault(title, parts...)
}
