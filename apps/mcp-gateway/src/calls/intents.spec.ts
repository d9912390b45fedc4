import { describe, expect, it } from '@jest/globals';
import { IntentStore } from './intents.ts';

const minute = 60_000;

describe('equal calls', () => {
  it('are one intention until an answer was delivered', () => {
    const intents = new IntentStore();
    const first = intents.of('call', 0);
    expect(intents.of('call', 5 * minute).key).toBe(first.key);
  });

  it('are meant each, once the one before was answered', () => {
    const intents = new IntentStore();
    const keys = Array.from({ length: 5 }, () => {
      const intent = intents.of('call', 0);
      intent.markDelivered();
      return intent.key;
    });
    expect(new Set(keys).size).toBe(5);
  });

  it('stay one intention when an answer of an earlier one goes out late', () => {
    const intents = new IntentStore();
    const first = intents.of('call', 0);
    first.markDelivered();
    const second = intents.of('call', 0);
    first.markDelivered();
    expect(intents.of('call', 0).key).toBe(second.key);
  });

  it('are told apart by what they say', () => {
    const intents = new IntentStore();
    expect(intents.of('one', 0).key).not.toBe(intents.of('other', 0).key);
  });

  it('have one key at two processes that know nothing of one another, within a minute', () => {
    const [here, there] = [new IntentStore(), new IntentStore()];
    expect(there.of('call', 30_000).key).toBe(here.of('call', 0).key);
    expect(new IntentStore().of('call', 2 * minute).key).not.toBe(here.of('call', 0).key);
  });

  it('are forgotten after a while, the oldest first where there are many', () => {
    const intents = new IntentStore();
    const { key } = intents.of('call', 0);
    expect(intents.of('call', 11 * minute).key).not.toBe(key);
    const kept = intents.of('kept', 0);
    for (let index = 0; index < 20_001; index += 1) intents.of(`other ${index}`, 0);
    expect(intents.of('kept', 2 * minute).key).not.toBe(kept.key);
  });
});
