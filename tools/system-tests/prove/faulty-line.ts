/**
 * A TCP relay that breaks connections to a server. A connection is cut, or stalls for a while, or carries
 * calls but no answers until it is cut. In the last case the server does the work, but no caller learns of
 * it.
 */
import { type Socket } from 'node:net';
import { type Relay, startRelay } from '@muster/testing/relay';
import { type Dice } from '@muster/tools';

export const faults = ['cut', 'stalled', 'muted'] as const;
export type Fault = (typeof faults)[number];

export interface FaultyProxy extends Relay {
  /** The number of broken connections, by fault. */
  readonly broken: Readonly<Record<Fault, number>>;
  /**
   * Breaks one connection, if possible one that waits for an answer. Returns false if no connection is open.
   */
  breakOne(dice: Dice): boolean;
  /**
   * Resolves when a connection is about to carry `text` to the server. The text is never sent, and the
   * connection carries nothing afterwards. The waiting process may then be killed. Rejects if no connection
   * sends the text before the timeout.
   */
  holdBefore(text: string, patienceMillis: number): Promise<void>;
}

/** The shortest and the longest time that a connection stalls, in milliseconds. */
const leastStall = 100;
const mostStall = 2_500;

interface Connection {
  readonly client: Socket;
  readonly upstream: Socket;
  /** Is true while a request was sent and no answer has come yet. */
  waits: boolean;
  isBroken: boolean;
}

/** Forwards everything between the two sockets, until a held text appears. */
function carry(one: Connection, holds: Holds): void {
  const { client, upstream } = one;
  client.on('data', (chunk) => {
    one.waits = true;
    const reach = holds.takeOut(chunk);
    if (reach === undefined) {
      upstream.write(chunk);
      return;
    }
    one.isBroken = true;
    client.pause();
    reach();
  });
  upstream.on('data', (chunk) => {
    one.waits = false;
    client.write(chunk);
  });
}

/** Texts before which a connection is held. */
interface Holds {
  /**
   * Removes the first hold whose text is in the chunk. Returns the function that reports this to its waiter.
   */
  readonly takeOut: (chunk: Buffer) => (() => void) | undefined;
  readonly add: FaultyProxy['holdBefore'];
}

function createHolds(): Holds {
  const holds: { readonly text: string; readonly reach: () => void }[] = [];
  return {
    takeOut: (chunk) => {
      const index = holds.findIndex(({ text }) => chunk.includes(text));
      return index < 0 ? undefined : holds.splice(index, 1)[0]?.reach;
    },
    add: (text, patienceMillis) =>
      new Promise((resolve, reject) => {
        const late = new Error(`nothing with ${text} in it came along`);
        const timer = setTimeout(reject, patienceMillis, late);
        holds.push({
          text,
          reach: () => {
            clearTimeout(timer);
            resolve();
          },
        });
      }),
  };
}

const cut = ({ client, upstream }: Connection): void => {
  client.destroy();
  upstream.destroy();
};

function breakAs(fault: Fault, one: Connection, millis: number): void {
  one.isBroken = true;
  if (fault === 'cut') {
    cut(one);
    return;
  }
  one.upstream.pause();
  if (fault === 'stalled') one.client.pause();
  setTimeout(() => {
    if (fault === 'muted') {
      cut(one);
      return;
    }
    one.isBroken = false;
    one.upstream.resume();
    one.client.resume();
  }, millis).unref();
}

export async function startFaultyProxy(serverUrl: string): Promise<FaultyProxy> {
  const connections = new Set<Connection>();
  const broken: Record<Fault, number> = { cut: 0, stalled: 0, muted: 0 };
  const holds = createHolds();
  const relay = await startRelay(serverUrl, (client, upstream) => {
    const one: Connection = { client, upstream, waits: false, isBroken: false };
    connections.add(one);
    client.on('close', () => connections.delete(one));
    carry(one, holds);
  });
  return {
    ...relay,
    broken,
    breakOne: (dice) => {
      const whole = [...connections].filter(({ isBroken }) => !isBroken);
      const waiting = whole.filter(({ waits }) => waits);
      if (whole.length === 0) return false;
      const one = dice.pick(waiting.length > 0 ? waiting : whole);
      const fault = dice.pick(faults);
      const millis = dice.between(leastStall, mostStall);
      broken[fault] += 1;
      breakAs(fault, one, millis);
      return true;
    },
    holdBefore: holds.add,
  };
}
