import { type Transport, errorOf, NoAnswer } from '@muster/client-core';
import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { createClient } from './client.ts';
import { type Acquired, holdLease, withLease } from './lease.ts';

let calledOperations: string[];
let failure: unknown;

/** A server that cannot be reached when the lease is to be released. */
const transport: Transport = async ({ name }) => {
  calledOperations.push(name.replace('deliveryExecutions.', ''));
  if (name === 'deliveryExecutions.release') throw failure;
  const lease = { ttlSeconds: 0.02, expiresAt: new Date().toISOString() };
  return { execution: { id: 'e', lease }, leaseToken: 't', resumed: false, signals: [] };
};
const client = createClient(transport);
const story = { targetType: 'story', targetId: 'WEB-1' } as const;

beforeEach(() => {
  calledOperations = [];
  failure = new NoAnswer('away');
});

describe('a lease that cannot be released', () => {
  it('is renewed no more, so that it can be claimed past its time', async () => {
    await expect(withLease(client, story, () => Promise.resolve('done'))).rejects.toBe(failure);
    await pause(100);
    expect(calledOperations).toEqual(['acquire', 'release']);
  });

  it('hides nothing that the work threw', async () => {
    const own = new Error('out of disk');
    await expect(withLease(client, story, () => Promise.reject(own))).rejects.toBe(own);
    expect(calledOperations).toEqual(['acquire', 'release']);
  });
});

describe('a held lease', () => {
  type Answers = Record<string, () => Promise<unknown>>;
  const lease = { ttlSeconds: 0.04, expiresAt: new Date().toISOString() };
  const kept = { execution: { id: 'e', lease }, signals: [] };
  const refused = (code: 'not_found' | 'unauthorized' | 'conflict', status: number, reason: string) =>
    errorOf({ code, status, message: '', requestId: 'r', details: { reason, retryable: false } });
  const held = (answers: Answers) => {
    const acquired = { ...kept, leaseToken: 't', resumed: false } as unknown as Acquired;
    const over: Transport = async ({ name }) => {
      calledOperations.push(name.replace('deliveryExecutions.', ''));
      return answers[calledOperations.at(-1) ?? '']?.();
    };
    return holdLease(createClient(over), acquired);
  };

  it.each(
    [
      refused('not_found', 404, 'not_found'),
      refused('unauthorized', 401, 'unauthorized'),
      refused('conflict', 409, 'stale_lease'),
    ].map((refusal) => [refusal.code, refusal] as const),
  )('is lost, and renewed no more, once a renewal hears: %s', async (_code, refusal) => {
    const { lost } = held({ renew: () => Promise.reject(refusal) });
    await pause(200);
    expect([lost.aborted, lost.reason, calledOperations]).toEqual([true, refusal, ['renew']]);
  });

  it('is not lost by what passes, nor by a refusal of something else', async () => {
    const answers = { renew: () => Promise.reject(new NoAnswer('away')) } as Answers;
    answers['handoff'] = () => Promise.reject(refused('not_found', 404, 'not_found'));
    const own = held(answers);
    await expect(own.handoff({ toAgentId: 'nobody' })).rejects.toThrow('not_found');
    await pause(100);
    own.putDown();
    expect([own.lost.aborted, calledOperations.filter((name) => name === 'renew').length > 1]).toEqual([
      false,
      true,
    ]);
  });
});

describe('a lease whose end is under way', () => {
  const stale = errorOf({
    ...{ code: 'conflict', status: 409, requestId: 'r', message: 'stale' },
    details: { reason: 'stale_lease', retryable: false },
  });
  const acquired = { execution: { id: 'e', lease: { ttlSeconds: 900 } }, leaseToken: 't', signals: [] };

  /**
   * Starts a call that ends the lease. Its answer is held back until `answerNow` is called, and the server
   * refuses every renewal until then.
   */
  const endingWith = (answer: () => Promise<unknown>) => {
    const slow = Promise.withResolvers<undefined>();
    const late: Transport = async ({ name }) => {
      if (name === 'deliveryExecutions.renew') throw stale;
      await slow.promise;
      return answer();
    };
    const lease = holdLease(createClient(late), acquired as unknown as Acquired);
    const ending = lease.complete({ outcome: 'succeeded' });
    return { lease, ending, answerNow: () => slow.resolve(undefined) };
  };

  it('is not lost by a renewal that comes after it', async () => {
    const { lease, ending, answerNow } = endingWith(() => Promise.resolve(acquired));
    await expect(lease.renew()).rejects.toBe(stale);
    expect([lease.lost.aborted, lease.isOver()]).toEqual([false, false]);
    answerNow();
    await ending;
    expect([lease.lost.aborted, lease.isOver()]).toEqual([false, true]);
  });

  it('is lost where another has it by then', async () => {
    const { lease, ending, answerNow } = endingWith(() => Promise.reject(stale));
    answerNow();
    await expect(ending).rejects.toBe(stale);
    expect(lease.lost.aborted).toBe(true);
    lease.putDown();
  });

  it('is kept on where nothing comes of it', async () => {
    const { lease, ending, answerNow } = endingWith(() => Promise.reject(new NoAnswer('away')));
    answerNow();
    await expect(ending).rejects.toThrow('away');
    expect([lease.lost.aborted, lease.isOver()]).toEqual([false, false]);
    await expect(lease.renew()).rejects.toBe(stale);
    expect(lease.lost.aborted).toBe(true);
    lease.putDown();
  });
});
