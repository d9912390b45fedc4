/**
 * Calls that need their caller to sign in again, because the organization asks for a fresh proof (403 `proof_needed`) or the
 * session has expired (401). They wait while that is done in another window, and are then made again: the page stays as it is,
 * with all text in it.
 */
import { isRefusal, type Transport, UnauthorizedError } from '@muster/client';
import { ask } from './questions.ts';
import { askSignIn, type SignedIn } from './sign-in.ts';
import { hasUnsaved } from './unsaved.ts';

/** Where the other window ends. */
export const provenPath = '/console/proven';
const channelName = 'muster.proof';

/** Asks until `isDone` is true of the sign-in. Another person than before gets the page reloaded. */
async function askUntil(
  kind: 'proof' | 'expired',
  { account }: SignedIn,
  isDone: (now: SignedIn) => boolean,
): Promise<boolean> {
  const listening = new AbortController();
  const channel = new BroadcastChannel(channelName);
  try {
    return await ask(kind, ({ answer }) => {
      const look = async (): Promise<void> => {
        const now = await askSignIn().catch(() => null);
        if (now === null || (kind === 'expired' && now === 'outside')) return;
        if (typeof now === 'string' || now.account.id !== account.id) globalThis.location.reload();
        else if (isDone(now)) answer(true);
      };
      channel.addEventListener('message', () => void look());
      globalThis.addEventListener('focus', () => void look(), { signal: listening.signal });
    });
  } finally {
    channel.close();
    listening.abort();
  }
}

let proving: Promise<boolean> | undefined;

async function waitForProof(): Promise<boolean> {
  const before = await askSignIn();
  if (typeof before === 'string') return false;
  return askUntil('proof', before, ({ session }) => session.provenAt !== before.session.provenAt);
}

let renewing: Promise<boolean> | undefined;
const waiting = new Set<() => void>();

async function waitForSignIn(before: SignedIn): Promise<boolean> {
  if ((await askSignIn()) !== 'outside') return true;
  const isBack = await askUntil('expired', before, () => true);
  if (isBack) for (const resume of waiting) resume();
  return isBack;
}

/** Asks the person to sign in again; false where they declined. Calls that wait at the same time ask once. */
export const signInAgain = (before: SignedIn): Promise<boolean> =>
  (renewing ??= waitForSignIn(before).finally(() => {
    renewing = undefined;
  }));

/** Asks, and after a no waits until another call's question was answered with a yes. */
export async function untilSignedIn(before: SignedIn): Promise<void> {
  if (await signInAgain(before)) return;
  await new Promise<void>((resolve) => waiting.add(resolve));
}

/** Says in the other window that it is done. */
export function sayProven(): void {
  const channel = new BroadcastChannel(channelName);
  channel.postMessage('proven');
  channel.close();
}

/** Makes a call again once its caller has signed in again. `signedIn` is null for a token, which cannot. */
export const signingIn =
  (transport: Transport, signedIn: SignedIn | null): Transport =>
  async (operation, params, options) => {
    try {
      return await transport(operation, params, options);
    } catch (error) {
      const isAgain = isRefusal(error, 'proof_needed')
        ? await (proving ??= waitForProof().finally(() => {
            proving = undefined;
          }))
        : signedIn !== null &&
          error instanceof UnauthorizedError &&
          // A page without unsaved text leaves for the sign-in when it reads.
          (operation.effect === 'write' || hasUnsaved()) &&
          (await signInAgain(signedIn));
      if (!isAgain) throw error;
      return transport(operation, params, options);
    }
  };
