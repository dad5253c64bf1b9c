package journal

import "os"

// Block makes the file one that cannot be written, until the function that it returns is called.
func (i *IDs) Block() (unblock func() error, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	good := i.file
	if i.file, err = os.Open(i.name); err != nil {
		return nil, err
	}
	return func() error {
		i.mu.Lock()
		defer i.mu.Unlock()
		bad := i.file
		i.file = good
		return bad.Close()
	}, nil
}

// FailToClose makes the next close of the file fail, as a disk can.
func (i *IDs) FailToClose() error { return i.file.Close() }
