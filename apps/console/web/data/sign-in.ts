/**
 * The installation's sign-in, which has the same origin: the current account, and navigation to sign-in and
 * sign-out.
 */
import { ForbiddenError } from '@muster/client';
import { resendableFetch } from './unanswered.ts';

export interface Organization {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly role: string;
}

/** The response of `GET /auth/session`. */
export interface SignedIn {
  readonly session: { readonly id: string; readonly provenAt: string; readonly expiresAt: string };
  readonly account: { readonly id: string; readonly email: string; readonly name: string };
  readonly organizations: readonly Organization[];
}

/** The delay before a failed request is sent again. A change of the network aborts all requests in progress. */
const retryDelayMs = 300;

/**
 * Fetches the current sign-in. Returns `absent` if the installation has no sign-in, and `outside` if no one
 * is signed in. Throws if no response arrives.
 */
export async function fetchSignIn(attempts = 4): Promise<SignedIn | 'absent' | 'outside'> {
  const answer = await resendableFetch('/auth/session', { headers: { accept: 'application/json' } }).catch(
    async (error: unknown) => {
      if (attempts === 1) throw error;
      await new Promise((resolve) => setTimeout(resolve, retryDelayMs));
    },
  );
  if (answer === undefined) return fetchSignIn(attempts - 1);
  if (answer.status === 404) return 'absent';
  if (answer.status === 401) return 'outside';
  if (!answer.ok) throw new Error(`/auth/session answered ${answer.status}`);
  return (await answer.json()) as SignedIn;
}

/**
 * Returns true if the same person is still signed in and still in the organization. A person can sign in
 * while calls are in progress, which changes the cookie. Also returns true if the sign-in service does not
 * respond.
 */
export async function isStillSignedIn(accountId: string, organizationId: string): Promise<boolean> {
  const now = await fetchSignIn().catch(() => null);
  if (now === null) return true;
  return (
    typeof now !== 'string' &&
    now.account.id === accountId &&
    now.organizations.some(({ id }) => id === organizationId)
  );
}

/**
 * Returns the page on which the session can provide the proof that its organization requires; null if the
 * error has another reason.
 */
export function proofPageOf(error: unknown): string | null {
  if (!(error instanceof ForbiddenError) || error.reason !== 'required_proof') return null;
  const at = error.body.details?.['at'];
  return typeof at === 'string' && at.startsWith('/sign-in?') ? at : null;
}

/** Leaves for the sign-in page or another page of it, which returns to the current page. */
export function redirectToSignIn(page = '/sign-in'): void {
  const { origin, pathname, search, hash } = globalThis.location;
  const leave = new URL(page, origin);
  leave.searchParams.set('to', `${pathname}${search}${hash}`);
  globalThis.location.assign(leave);
}

/** Ends the session in all windows of this browser. */
export function signOut(): void {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = '/auth/sign-out';
  document.body.append(form);
  form.submit();
}

/**
 * The key under which the slug of the chosen organization is stored: in session storage for this window, and
 * in local storage as the last choice in any window. The slug is not a secret.
 */
const organizationStorageKey = 'muster.organization';

export function rememberOrganization({ slug }: Organization): void {
  sessionStorage.setItem(organizationStorageKey, slug);
  localStorage.setItem(organizationStorageKey, slug);
}

/**
 * Chooses the organization in the URL (`?org=`, which is then removed), that of this window, or the last
 * chosen one.
 */
export function chooseOrganization(organizations: readonly Organization[]): Organization | undefined {
  const url = new URL(globalThis.location.href);
  const named = url.searchParams.get('org');
  if (named !== null) {
    url.searchParams.delete('org');
    history.replaceState(history.state, '', url);
  }
  const wanted = [
    named,
    sessionStorage.getItem(organizationStorageKey),
    localStorage.getItem(organizationStorageKey),
  ];
  const found =
    wanted
      .map((slug) => organizations.find((one) => one.slug === slug))
      .find((organization) => organization !== undefined) ?? organizations[0];
  if (found !== undefined) rememberOrganization(found);
  return found;
}

/**
 * Switches the organization by loading a new page, because everything on the page belongs to one
 * organization.
 */
export function switchOrganization(organization: Organization): void {
  globalThis.location.assign(`/console/?org=${encodeURIComponent(organization.slug)}`);
}
