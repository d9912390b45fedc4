/** The pages of a signed-in person: organizations, invitations, and creating an organization. */
import { formFieldsOf, requireOwnPage, queryFieldsOf } from '@muster/http';
import { createOrganizationForAccount } from '@muster/organizations';
import { inSignInTransaction } from '@muster/placement';
import { OrgName } from '@muster/contract';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Account, listInvitations, listOrganizations } from '../data/accounts.ts';
import { findSession } from '../data/sessions.ts';
import { sendPage } from '../pages/layout.ts';
import { homePage } from '../pages/organizations.ts';
import { signInPage } from '../pages/pages.ts';
import { type RouteDependencies } from './parts.ts';
import { browserFactsOf } from './requests.ts';

const invitationsPath = '/sign-in/invitations';

/** Sends the home page of a signed-in person. */
export const sendHomePage = async (
  { pool, config, ways }: RouteDependencies,
  reply: FastifyReply,
  account: Account,
  pageState: {
    readonly problem?: string | null;
    readonly note?: string | null;
    readonly submittedName?: string;
  } = {},
): Promise<FastifyReply> => {
  const [organizations, invitations] = await inSignInTransaction(pool, async (db) => [
    await listOrganizations(db, account.id),
    await listInvitations(db, account.id),
  ]);
  const mayBegin = config.SIGN_UP === 'open' && !organizations.some(({ role }) => role === 'owner');
  const { problem = null, note = null, submittedName: typed = '' } = pageState;
  return sendPage(
    reply,
    homePage({
      account,
      organizations,
      invitations,
      mayCreateOrganization: mayBegin,
      problem,
      note,
      submittedName: typed,
      homePath: config.HOME_PATH,
      hasPasskeys: ways.passkeys,
    }),
  );
};

/** Reasons why an invitation was not accepted, as shown to the person. */
const invitationRefusals: Readonly<Record<string, string>> = {
  seats_exhausted: 'The organization has no seats left. Ask the person who invited you to add one.',
  policy: 'The organization no longer accepts e-mail addresses of this domain.',
  expired: 'The invitation has expired. Ask for a new one.',
  already_resolved: 'The invitation was already used or was revoked.',
  not_found: 'There is no such invitation for your e-mail address.',
};

export function addOrganizationRoutes(app: FastifyInstance, dependencies: RouteDependencies): void {
  const { pool, config, cookies, throttle, ways } = dependencies;
  const onRequest = requireOwnPage(config.cookie);
  const accountOf = (request: FastifyRequest) =>
    inSignInTransaction(
      pool,
      async (db) => (await findSession(db, cookies.read(request, 'session')))?.account ?? null,
    );

  app.get(invitationsPath, async (request, reply) => {
    const account = await accountOf(request);
    if (account === null) {
      if (config.SIGN_UP === 'closed') return reply.redirect('/invitations/accept?without=account', 303);
      const note = 'You have an invitation. Sign in with the e-mail address it was sent to.';
      return sendPage(reply, signInPage(ways, { returnPath: invitationsPath, note }));
    }
    const { refused, joined } = queryFieldsOf(request);
    if (refused !== undefined) {
      const problem = invitationRefusals[refused] ?? 'The invitation could not be accepted. Try again.';
      return sendHomePage(dependencies, reply, account, { problem });
    }
    if (joined !== undefined)
      return sendHomePage(dependencies, reply, account, {
        note: 'You joined the organization. Open it below.',
      });
    const invitations = await inSignInTransaction(pool, (db) => listInvitations(db, account.id));
    const none = `There is no open invitation for ${account.email}. If it was sent to another address, sign out and use that address.`;
    return sendHomePage(dependencies, reply, account, { note: invitations.length === 0 ? none : null });
  });

  app.post('/auth/organization', { onRequest }, async (request, reply) => {
    await throttle(request);
    const account = await accountOf(request);
    // Check SIGN_UP again, because a client can send the form without loading its page.
    if (account === null || config.SIGN_UP !== 'open') return reply.redirect('/sign-in', 303);
    const { name: typed = '' } = formFieldsOf(request);
    const name = OrgName.safeParse(typed);
    if (!name.success)
      return sendHomePage(dependencies, reply, account, {
        problem: 'Enter a name of 1 to 120 characters.',
        submittedName: typed,
      });
    const facts = { requestId: request.id, ...browserFactsOf(request) };
    const begun = await createOrganizationForAccount(pool, account, { name: name.data }, facts);
    return begun === 'owner'
      ? sendHomePage(dependencies, reply, account, {
          problem: 'You already own an organization.',
          submittedName: typed,
        })
      : reply.redirect('/sign-in', 303);
  });
}
