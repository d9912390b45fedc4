import { expect, it } from '@jest/globals';
import { draftsOf } from './drafts.ts';

/** Simulates the browser storage that drafts use, with room for this many characters. */
function storageOf(room = Number.POSITIVE_INFINITY): Storage {
  const items = new Map<string, string>();
  return {
    get length() {
      return items.size;
    },
    clear: () => items.clear(),
    key: (at) => [...items.keys()][at] ?? null,
    getItem: (key) => items.get(key) ?? null,
    removeItem: (key) => void items.delete(key),
    setItem: (key, value) => {
      if (value.length > room) throw new Error('QuotaExceededError');
      items.set(key, value);
    },
  };
}
const draft = {
  text: 'Guests pay by card.',
  at: 1_700_000_000_000,
  base: { version: 2, content: 'Guests pay.' },
};

it('finds a draft again in a new page, for its person alone', () => {
  const storage = storageOf();
  draftsOf('ana', storage).keep('spec.1', draft);
  expect(draftsOf('ana', storage).read('spec.1')).toEqual(draft);
  expect(draftsOf('ana', storage).read('spec.2')).toBeUndefined();
  expect(draftsOf('ben', storage).read('spec.1')).toBeUndefined();
});

it('clears a saved draft, and those of others when another person begins', () => {
  const storage = storageOf();
  storage.setItem('muster.keys', 'off');
  const [ana, ben] = [draftsOf('ana', storage), draftsOf('ben', storage)];
  ana.keep('spec.1', draft);
  ana.keep('comment.1', draft);
  ana.keep('comment.1', undefined);
  ben.keep('spec.1', draft);
  expect(ana.read('comment.1')).toBeUndefined();
  ben.deleteOthers();
  expect([ana.read('spec.1'), ben.read('spec.1')]).toEqual([undefined, draft]);
  expect(storage.getItem('muster.keys')).toBe('off');
});

it('keeps in memory a draft for which the browser has no room, and ignores what it cannot read', () => {
  const storage = storageOf(10);
  const drafts = draftsOf('ana', storage);
  drafts.keep('spec.1', draft);
  expect(drafts.read('spec.1')).toEqual(draft);
  storage.setItem('muster.draft.ana.spec.2', '{"text":');
  expect(drafts.read('spec.2')).toBeUndefined();
});
