/** The pages of a signed-in person: organizations, invitations, and creating an organization. */
import { formOf, fromOwnPage, queryOf } from '@muster/http';
import { beginOrganization } from '@muster/organizations';
import { inSignIn } from '@muster/placement';
import { OrgName } from '@muster/registry';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Account, listInvitations, listOrganizations } from '../data/accounts.ts';
import { findSession } from '../data/sessions.ts';
import { sendPage } from '../pages/layout.ts';
import { homePage } from '../pages/organizations.ts';
import { signInPage } from '../pages/pages.ts';
import { type Parts } from './parts.ts';
import { browserOf } from './requests.ts';

const invitationsPath = '/sign-in/invitations';

/** Sends the home page of a signed-in person. */
export const sendHome = async (
  { pool, config, ways }: Parts,
  reply: FastifyReply,
  account: Account,
  said: { readonly problem?: string | null; readonly note?: string | null; readonly typed?: string } = {},
): Promise<FastifyReply> => {
  const [organizations, invitations] = await inSignIn(pool, async (db) => [
    await listOrganizations(db, account.id),
    await listInvitations(db, account.id),
  ]);
  const mayBegin = config.SIGN_UP === 'open' && !organizations.some(({ role }) => role === 'owner');
  const { problem = null, note = null, typed = '' } = said;
  return sendPage(
    reply,
    homePage({
      account,
      organizations,
      invitations,
      mayBegin,
      problem,
      note,
      typed,
      home: config.HOME_PATH,
      passkeys: ways.passkeys,
    }),
  );
};

/** Reasons why an invitation was not accepted, as shown to the person. */
const refusals: Readonly<Record<string, string>> = {
  seats_exhausted: 'The organization has no seats left. Ask the person who invited you to add one.',
  policy: 'The organization no longer accepts e-mail addresses of this domain.',
  expired: 'The invitation has expired. Ask for a new one.',
  already_resolved: 'The invitation was already used or was revoked.',
  not_found: 'There is no such invitation for your e-mail address.',
};

export function addOrganizations(app: FastifyInstance, around: Parts): void {
  const { pool, config, cookies, throttle, ways } = around;
  const onRequest = fromOwnPage(config.cookie);
  const accountOf = (request: FastifyRequest) =>
    inSignIn(pool, async (db) => (await findSession(db, cookies.read(request, 'session')))?.account ?? null);

  app.get(invitationsPath, async (request, reply) => {
    const account = await accountOf(request);
    if (account === null) {
      if (config.SIGN_UP === 'closed') return reply.redirect('/invitations/accept?without=account', 303);
      const note = 'You have an invitation. Sign in with the e-mail address it was sent to.';
      return sendPage(reply, signInPage(ways, { to: invitationsPath, note }));
    }
    const { refused, joined } = queryOf(request);
    if (refused !== undefined) {
      const problem = refusals[refused] ?? 'The invitation could not be accepted. Try again.';
      return sendHome(around, reply, account, { problem });
    }
    if (joined !== undefined)
      return sendHome(around, reply, account, { note: 'You joined the organization. Open it below.' });
    const invitations = await inSignIn(pool, (db) => listInvitations(db, account.id));
    const none = `There is no open invitation for ${account.email}. If it was sent to another address, sign out and use that address.`;
    return sendHome(around, reply, account, { note: invitations.length === 0 ? none : null });
  });

  app.post('/auth/organization', { onRequest }, async (request, reply) => {
    await throttle(request);
    const account = await accountOf(request);
    // Check SIGN_UP again, because a client can send the form without loading its page.
    if (account === null || config.SIGN_UP !== 'open') return reply.redirect('/sign-in', 303);
    const { name: typed = '' } = formOf(request);
    const name = OrgName.safeParse(typed);
    if (!name.success)
      return sendHome(around, reply, account, { problem: 'Enter a name of 1 to 120 characters.', typed });
    const facts = { requestId: request.id, ...browserOf(request) };
    const begun = await beginOrganization(pool, account, { name: name.data }, facts);
    return begun === 'owner'
      ? sendHome(around, reply, account, { problem: 'You already own an organization.', typed })
      : reply.redirect('/sign-in', 303);
  });
}
