import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Acquired, createClient, holdLease, httpTransport, MusterError } from '@muster/client';
import { type JournalEntry } from './journal.ts';
import { judgeEnding } from './run.ts';
import { type ReadyRun } from './session.ts';
import { createParallelRuns, acquireStory, retryDuringOutage } from './take.ts';

type Answer = (response: ServerResponse) => void;

const json =
  (status: number, body: object): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
const refused = (status: number, code: string): Answer =>
  json(status, { code, message: 'No.', status, requestId: 'r', details: {} });
const dropConnection: Answer = (response) => {
  response.destroy();
};
const noEvents = json(200, { items: [], cursor: 'c' });
const acquired = { execution: { targetId: 's' }, leaseToken: 't', resumed: false, signals: [], skipped: [] };
const noStory = { ...acquired, execution: null, leaseToken: null };

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const close of cleanups.splice(0)) close();
});

/** Returns a client of a server that gives these answers in turn. */
async function connectTo(answers: readonly Answer[]) {
  let calls = 0;
  const server = createServer((request, response) => {
    const answer = answers[calls] ?? dropConnection;
    calls += 1;
    request.resume().on('end', () => answer(response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => server.close().closeAllConnections());
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return createClient(httpTransport({ baseUrl, token: 't' }));
}

/** Takes the next story from a server that gives these answers in turn. */
async function takeFrom(answers: readonly Answer[], waits = true, storyId?: string) {
  const client = await connectTo(answers);
  const { signal } = new AbortController();
  const entry = { project: 'WEB', runId: 'r' } as JournalEntry;
  return acquireStory(
    {
      client,
      waitingClient: client,
      entry,
      parallelRuns: createParallelRuns(),
      stopSignal: signal,
      onNoStory: () => undefined,
    },
    {
      ...(storyId !== undefined && { storyId }),
      ...{ waitsForStory: waits, outlastsOutage: storyId !== undefined, searchEndSignal: signal },
    },
  );
}

describe('a runner that waits for a story', () => {
  it('keeps waiting while no call is answered', async () => {
    const untilIdle = [dropConnection, noEvents, refused(500, 'internal'), noEvents, json(200, noStory)];
    const { execution } =
      (await takeFrom([...untilIdle, dropConnection, noEvents, json(200, acquired)])) ?? {};
    expect(execution).toEqual({ targetId: 's' });
  });

  it('ends when its token is refused while it waits', async () => {
    const taking = takeFrom([noEvents, json(200, noStory), refused(401, 'unauthorized')]);
    await expect(taking).rejects.toMatchObject({ status: 401 });
    await expect(taking).rejects.toBeInstanceOf(MusterError);
  });
});

it('a runner that does not wait for a story ends with the failure of the call', async () => {
  await expect(takeFrom([dropConnection], false)).rejects.toThrow('no answer');
});

describe('a call that outlasts an outage', () => {
  const callUntil = async (answers: readonly Answer[], signal: AbortSignal) => {
    const client = await connectTo(answers);
    return retryDuringOutage(() => client.deliveryExecutions.acquireNext({ projectId: 'WEB' }), signal);
  };
  const { signal } = new AbortController();

  it('is made again until it is answered', async () => {
    const answer = await callUntil([dropConnection, refused(503, 'unavailable'), json(200, noStory)], signal);
    expect(answer).toMatchObject({ execution: null });
    await expect(callUntil([dropConnection, refused(401, 'unauthorized')], signal)).rejects.toMatchObject({
      status: 401,
    });
  });

  it('acquires the story that was requested during the outage', async () => {
    const taken = await takeFrom(
      [dropConnection, refused(503, 'unavailable'), json(200, acquired)],
      false,
      'WEB-1',
    );
    expect(taken?.execution).toEqual({ targetId: 's' });
  });

  it('ends when the runner is asked to end', async () => {
    const leaving = new AbortController();
    const leave: Answer = (response) => {
      leaving.abort();
      dropConnection(response);
    };
    expect(await callUntil([dropConnection, leave], leaving.signal)).toBeUndefined();
  });
});

describe('the end of an agent', () => {
  const judgeAfter = async (answer: Answer, result?: 'failed') => {
    const client = await connectTo([answer]);
    const lease = holdLease(client, {
      execution: { id: 'e', lease: { ttlSeconds: 600 } },
      ...{ leaseToken: 't', resumed: false, signals: [] },
    } as unknown as Acquired);
    cleanups.push(lease.putDown);
    return judgeEnding({ client, lease } as ReadyRun, {
      ...{ kind: 'over', tail: '' },
      result: result && { outcome: result, summary: 'No way' },
    });
  };

  it('leads to a verdict while Muster cannot be reached', async () => {
    expect(await judgeAfter(dropConnection)).toBe('unchecked');
    expect(await judgeAfter(refused(503, 'unavailable'), 'failed')).toMatchObject({
      outcome: 'failed',
      summary: 'No way',
    });
  });

  it('is not judged if the token of the run is refused', async () => {
    await expect(judgeAfter(refused(400, 'bad_request'))).rejects.toMatchObject({ status: 400 });
  });
});
