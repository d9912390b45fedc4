import { expect, it } from '@jest/globals';
import { createDrafts } from './drafts.ts';

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
  createDrafts('ana', storage).store('spec.1', draft);
  expect(createDrafts('ana', storage).read('spec.1')).toEqual(draft);
  expect(createDrafts('ana', storage).read('spec.2')).toBeUndefined();
  expect(createDrafts('ben', storage).read('spec.1')).toBeUndefined();
});

it('clears a saved draft, and those of others when another person begins', () => {
  const storage = storageOf();
  storage.setItem('muster.keys', 'off');
  const [ana, ben] = [createDrafts('ana', storage), createDrafts('ben', storage)];
  ana.store('spec.1', draft);
  ana.store('comment.1', draft);
  ana.store('comment.1', undefined);
  ben.store('spec.1', draft);
  expect(ana.read('comment.1')).toBeUndefined();
  ben.deleteDraftsOfOthers();
  expect([ana.read('spec.1'), ben.read('spec.1')]).toEqual([undefined, draft]);
  expect(storage.getItem('muster.keys')).toBe('off');
});

it('keeps in memory a draft for which the browser has no room, and ignores what it cannot read', () => {
  const storage = storageOf(10);
  const drafts = createDrafts('ana', storage);
  drafts.store('spec.1', draft);
  expect(drafts.read('spec.1')).toEqual(draft);
  storage.setItem('muster.draft.ana.spec.2', '{"text":');
  expect(drafts.read('spec.2')).toBeUndefined();
});
