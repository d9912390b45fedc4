/**
 * A call that needs a fresh proof of who calls (403 `proof_needed`) waits for it and is made again: the proof is given in a
 * window of its own, so that the page stays as it is, with whatever was typed.
 */
import { isRefusal, type Transport } from '@muster/client';
import { askSignIn } from './sign-in.ts';

/** Where the other window ends. */
export const provenPath = '/console/proven';
const channelName = 'muster.proof';

export interface ProofAsked {
  readonly done: (isProven: boolean) => void;
}

let asked: ProofAsked | null = null;
const watchers = new Set<() => void>();
export const subscribe = (changed: () => void): (() => void) => {
  watchers.add(changed);
  return () => watchers.delete(changed);
};
export const proofAsked = (): ProofAsked | null => asked;

const tell = (next: ProofAsked | null): void => {
  asked = next;
  for (const changed of watchers) changed();
};

let underWay: Promise<boolean> | undefined;

/** Calls that wait at the same time wait for one proof. */
const prove = (): Promise<boolean> =>
  (underWay ??= waitForProof().finally(() => {
    underWay = undefined;
  }));

async function waitForProof(): Promise<boolean> {
  const before = await askSignIn();
  if (typeof before === 'string') return false;
  return new Promise((resolve) => {
    const channel = new BroadcastChannel(channelName);
    const look = async (): Promise<void> => {
      const now = await askSignIn().catch(() => before);
      // Whoever proved who they are may be another person, whose page this is not.
      if (typeof now === 'string' || now.account.id !== before.account.id) globalThis.location.reload();
      else if (now.session.provenAt !== before.session.provenAt) done(true);
    };
    const hear = (): void => void look();
    const done = (isProven: boolean): void => {
      channel.close();
      globalThis.removeEventListener('focus', hear);
      tell(null);
      resolve(isProven);
    };
    channel.addEventListener('message', hear);
    globalThis.addEventListener('focus', hear);
    tell({ done });
  });
}

/** Says in the other window that it is done. */
export function sayProven(): void {
  const channel = new BroadcastChannel(channelName);
  channel.postMessage('proven');
  channel.close();
}

/** Makes a call again once its caller has given the proof that it needs. */
export const proving =
  (transport: Transport): Transport =>
  async (operation, params, options) => {
    try {
      return await transport(operation, params, options);
    } catch (error) {
      if (!isRefusal(error, 'proof_needed') || !(await prove())) throw error;
      return transport(operation, params, options);
    }
  };
