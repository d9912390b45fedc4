import { setTimeout as pause } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { createClient, type Transport } from './client.ts';
import { NoAnswer } from './errors.ts';
import { withLease } from './lease.ts';

let called: string[];
let failure: unknown;

/** A server that cannot be reached any more once the lease is to be released. */
const transport: Transport = async ({ name }) => {
  called.push(name.replace('deliveryExecutions.', ''));
  if (name === 'deliveryExecutions.release') throw failure;
  const lease = { ttlSeconds: 0.02, expiresAt: new Date().toISOString() };
  return { execution: { id: 'e', lease }, leaseToken: 't', resumed: false, signals: [] };
};
const client = createClient(transport);
const story = { targetType: 'story', targetId: 'WEB-1' } as const;

beforeEach(() => {
  called = [];
  failure = new NoAnswer('away');
});

describe('a lease that cannot be released', () => {
  it('is renewed no more, so that it can be claimed past its time', async () => {
    await expect(withLease(client, story, () => Promise.resolve('done'))).rejects.toBe(failure);
    await pause(100);
    expect(called).toEqual(['acquire', 'release']);
  });

  it('hides nothing that the work threw', async () => {
    const own = new Error('out of disk');
    await expect(withLease(client, story, () => Promise.reject(own))).rejects.toBe(own);
    expect(called).toEqual(['acquire', 'release']);
  });
});
