/**
 * A write by a client that retries until it succeeds. It chooses a random instance of the API for each
 * attempt. Attempts are cut off, sent twice at the same time, or repeated after their success.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { pathOf } from '@muster/contract';
import { type Dice } from '@muster/tools';
import { type Site } from '../../site.ts';

export interface WriteCounts {
  begun: number;
  cutOff: number;
  twins: number;
  replays: number;
  /**
   * The number of writes with an attempt that was cut off after the server had done the write. A later
   * attempt got the replayed answer.
   */
  doneUnheard: number;
  /** The id of each acknowledged comment, by its text. */
  readonly acknowledged: Map<string, string>;
  /** Violations: different answers to one write, and writes that a repeated request did a second time. */
  readonly unlike: string[];
}

export const newTally = (): WriteCounts => ({
  ...{ begun: 0, cutOff: 0, twins: 0, replays: 0, doneUnheard: 0 },
  ...{ acknowledged: new Map(), unlike: [] },
});

interface Said {
  readonly text: string;
  readonly replayed: boolean;
}

interface Wanted {
  readonly storyId: string;
  readonly keyed: boolean;
}

/** The timeout of an attempt, in milliseconds. Any answer that comes at all is faster. */
const patienceMillis = 4_000;
/** The longest timeout of an impatient client, in milliseconds. Most answers take longer. */
const maxImpatientMillis = 40;
const chances = { impatient: 0.2, twins: 0.15, replay: 0.15 };

export async function write(
  site: Site,
  dice: Dice,
  tally: WriteCounts,
  { storyId, keyed }: Wanted,
): Promise<void> {
  tally.begun += 1;
  const body = `Write ${tally.begun}`;
  const { token } = dice.pick(site.people);
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    ...(keyed && { 'idempotency-key': crypto.randomUUID() }),
  };

  /** Sends the comment once. Returns undefined if no answer came, or if the answer asks to retry later. */
  const attempt = async (millis: number): Promise<Said | undefined> => {
    const { url } = dice.pick(site.copies);
    const answer = await fetch(`${url}${pathOf('comments.create')}`, {
      ...{ method: 'POST', headers, body: JSON.stringify({ storyId, body }) },
      signal: AbortSignal.timeout(millis),
    })
      .then(async (response) => ({ response, text: await response.text() }))
      .catch(() => undefined);
    if (answer === undefined) {
      tally.cutOff += 1;
      return undefined;
    }
    const { response, text } = answer;
    if (response.ok) return { text, replayed: response.headers.get('idempotency-replayed') === 'true' };
    if (response.status === 503 || text.includes('idempotency_in_flight')) return undefined;
    throw new Error(`${response.status}: ${text}`);
  };
  const persist = async (firstMillis: number): Promise<Said> => {
    for (let tries = 1; ; tries += 1) {
      const said = await attempt(tries === 1 ? firstMillis : patienceMillis);
      if (said !== undefined) {
        if (tries > 1 && said.replayed) tally.doneUnheard += 1;
        return said;
      }
      await pause(dice.between(20, 200));
    }
  };

  const isImpatient = dice.chance(chances.impatient);
  const firstMillis = isImpatient ? dice.between(1, maxImpatientMillis) : patienceMillis;
  const hasTwin = dice.chance(chances.twins);
  const said = await Promise.all([persist(firstMillis), ...(hasTwin ? [persist(patienceMillis)] : [])]);
  tally.twins += Number(hasTwin);
  if (dice.chance(chances.replay)) {
    const again = await persist(patienceMillis);
    tally.replays += 1;
    if (!again.replayed) tally.unlike.push(`${body} was done again when it was repeated`);
    said.push(again);
  }
  const [first] = said;
  if (said.some(({ text }) => text !== first.text)) tally.unlike.push(`${body} was answered in two ways`);
  const { comment } = JSON.parse(first.text) as { comment: { id: string } };
  tally.acknowledged.set(body, comment.id);
}
