/** The sign-in of the installation, which stands under the same origin: who is signed in, and the ways there and out. */
import { ForbiddenError } from '@muster/client';
import { resendableFetch } from './unanswered.ts';

export interface Organization {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly role: string;
}

/** What `GET /auth/session` answers. */
export interface SignedIn {
  readonly session: { readonly id: string; readonly provenAt: string; readonly expiresAt: string };
  readonly account: { readonly id: string; readonly email: string; readonly name: string };
  readonly organizations: readonly Organization[];
}

/** A network that changes cuts off what is on its way: it is asked for again. */
const againMillis = 300;

/** `absent` where the installation has no sign-in, `outside` where nobody is signed in. Throws where no answer comes. */
export async function askSignIn(tries = 4): Promise<SignedIn | 'absent' | 'outside'> {
  const answer = await resendableFetch('/auth/session', { headers: { accept: 'application/json' } }).catch(
    async (error: unknown) => {
      if (tries === 1) throw error;
      await new Promise((resolve) => setTimeout(resolve, againMillis));
    },
  );
  if (answer === undefined) return askSignIn(tries - 1);
  if (answer.status === 404) return 'absent';
  if (answer.status === 401) return 'outside';
  if (!answer.ok) throw new Error(`/auth/session answered ${answer.status}`);
  return (await answer.json()) as SignedIn;
}

/**
 * Whether the same person is signed in still, and in the organization: a fresh proof changes the cookie under calls that are on
 * their way. Where no answer comes, that is not known to be over.
 */
export async function isStillIn(accountId: string, organizationId: string): Promise<boolean> {
  const now = await askSignIn().catch(() => null);
  if (now === null) return true;
  return (
    typeof now !== 'string' &&
    now.account.id === accountId &&
    now.organizations.some(({ id }) => id === organizationId)
  );
}

/** The page on which a session gives the proof that its organization asks for; null where that is not why it was refused. */
export function proofPageOf(error: unknown): string | null {
  if (!(error instanceof ForbiddenError) || error.reason !== 'required_proof') return null;
  const at = error.body.details?.['at'];
  return typeof at === 'string' && at.startsWith('/sign-in?') ? at : null;
}

/** Leaves for the page to sign in on, or another page of the sign-in, which leads back to where one was. */
export function leaveToSignIn(page = '/sign-in'): void {
  const { origin, pathname, search, hash } = globalThis.location;
  const leave = new URL(page, origin);
  leave.searchParams.set('to', `${pathname}${search}${hash}`);
  globalThis.location.assign(leave);
}

/** Ends the session, in all windows of this browser. */
export function signOut(): void {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = '/auth/sign-out';
  document.body.append(form);
  form.submit();
}

/** Of this window first, then what was chosen last in any. It is no secret. */
const place = 'muster.organization';

export function rememberOrganization({ slug }: Organization): void {
  sessionStorage.setItem(place, slug);
  localStorage.setItem(place, slug);
}

/** The one that the address names (`?org=`, which is taken out of it), that this window is in, or that was chosen last. */
export function chooseOrganization(organizations: readonly Organization[]): Organization | undefined {
  const url = new URL(globalThis.location.href);
  const named = url.searchParams.get('org');
  if (named !== null) {
    url.searchParams.delete('org');
    history.replaceState(history.state, '', url);
  }
  const wanted = [named, sessionStorage.getItem(place), localStorage.getItem(place)];
  const found =
    wanted
      .map((slug) => organizations.find((one) => one.slug === slug))
      .find((organization) => organization !== undefined) ?? organizations[0];
  if (found !== undefined) rememberOrganization(found);
  return found;
}

/** What is on the page belongs to one organization: another is another page. */
export function switchOrganization(organization: Organization): void {
  globalThis.location.assign(`/console/?org=${encodeURIComponent(organization.slug)}`);
}
