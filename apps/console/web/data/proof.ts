/**
 * Handles calls that need their caller to sign in again. Either the organization requires recent
 * authentication (403 `proof_needed`), or the session has expired (401). The calls wait while the person
 * signs in in another window, and are then repeated. The page keeps its state and its text.
 */
import { isRefusal, type Transport, UnauthorizedError } from '@muster/client';
import { askQuestion } from './questions.ts';
import { fetchSignIn, type SignedIn } from './sign-in.ts';
import { hasUnsavedText } from './unsaved.ts';

/** The address to which the sign-in page redirects the other window, after the person has signed in again. */
export const signInConfirmedPath = '/console/proven';
const proofChannelName = 'muster.proof';

/** Asks until `isDone` returns true for the current sign-in. Reloads the page if another person signed in. */
async function askToSignInUntil(
  kind: 'proof' | 'expired',
  { account }: SignedIn,
  isSignInSufficient: (now: SignedIn) => boolean,
): Promise<boolean> {
  const listening = new AbortController();
  const channel = new BroadcastChannel(proofChannelName);
  try {
    return await askQuestion(kind, ({ answer }) => {
      const look = async (): Promise<void> => {
        const now = await fetchSignIn().catch(() => null);
        if (now === null || (kind === 'expired' && now === 'outside')) return;
        if (typeof now === 'string' || now.account.id !== account.id) globalThis.location.reload();
        else if (isSignInSufficient(now)) answer(true);
      };
      channel.addEventListener('message', () => void look());
      globalThis.addEventListener('focus', () => void look(), { signal: listening.signal });
    });
  } finally {
    channel.close();
    listening.abort();
  }
}

let pendingProof: Promise<boolean> | undefined;

async function waitForRecentSignIn(): Promise<boolean> {
  const before = await fetchSignIn();
  if (typeof before === 'string') return false;
  return askToSignInUntil('proof', before, ({ session }) => session.provenAt !== before.session.provenAt);
}

let pendingSignIn: Promise<boolean> | undefined;
const callbacksAwaitingSignIn = new Set<() => void>();

async function waitForSignIn(previousSignIn: SignedIn): Promise<boolean> {
  if ((await fetchSignIn()) !== 'outside') return true;
  const isBack = await askToSignInUntil('expired', previousSignIn, () => true);
  if (isBack) for (const resume of callbacksAwaitingSignIn) resume();
  return isBack;
}

/** Asks the person to sign in again. Resolves to false if they decline. Concurrent callers share one question. */
export const signInAgain = (previousSignIn: SignedIn): Promise<boolean> =>
  (pendingSignIn ??= waitForSignIn(previousSignIn).finally(() => {
    pendingSignIn = undefined;
  }));

/**
 * Asks the person to sign in again. If they decline, waits until another API call asks them and they sign in for
 * that call.
 */
export async function waitUntilSignedIn(previousSignIn: SignedIn): Promise<void> {
  if (await signInAgain(previousSignIn)) return;
  await new Promise<void>((resolve) => callbacksAwaitingSignIn.add(resolve));
}

/** Notifies the waiting window that the person has signed in. */
export function announceSignIn(): void {
  const channel = new BroadcastChannel(proofChannelName);
  channel.postMessage('proven');
  channel.close();
}

/**
 * Returns a transport that asks the person to sign in again if a call requires it, and then repeats the call.
 * For a token, `signedIn` is null, and the error is thrown, because a token cannot sign in again.
 */
export const withSignInAgain =
  (transport: Transport, signedIn: SignedIn | null): Transport =>
  async (operation, params, options) => {
    try {
      return await transport(operation, params, options);
    } catch (error) {
      const isAgain = isRefusal(error, 'proof_needed')
        ? await (pendingProof ??= waitForRecentSignIn().finally(() => {
            pendingProof = undefined;
          }))
        : signedIn !== null &&
          error instanceof UnauthorizedError &&
          // If only a read was refused and the page has no unsaved text, do not open a second window: the error
          // is thrown, and the console opens the sign-in page in this window.
          (operation.effect === 'write' || hasUnsavedText()) &&
          (await signInAgain(signedIn));
      if (!isAgain) throw error;
      return transport(operation, params, options);
    }
  };
