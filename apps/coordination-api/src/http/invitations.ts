/**
 * Accepts invitations without a token: a form for people, and the path that it posts to. With sign-in, people
 * accept with their account; the form is for installations without accounts.
 */
import { type Pool } from '@muster/driver';
import {
  acceptInvitation,
  type AcceptanceRequestFacts,
  acceptInvitationByAccount,
} from '@muster/organizations';
import { hashToken, isWellFormedSession, type EventReaction } from '@muster/runtime';
import {
  ApiError,
  cookieOf,
  formFieldsOf,
  requireOwnPage,
  type Metrics,
  queryFieldsOf,
  type SessionCookie,
  addFormParser,
  userAgentOf,
  type CallFacts,
  createCallRecorder,
  type RecordCall,
} from '@muster/http';
import { isUuid, notFound, unauthorized } from '@muster/contract';
import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { type Logger } from 'pino';
import { type Addresses } from './discovery/addresses.ts';
import { renderInvitationPage } from './invitationPage.ts';

export interface InvitationRouteOptions {
  readonly pool: Pool;
  readonly reactions: readonly EventReaction[];
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** The session cookie; undefined without sign-in. */
  readonly cookie: SessionCookie | undefined;
  readonly addresses: Addresses;
}

const acceptPath = '/invitations/accept';
/** The page that shows a signed-in person their invitations. */
const signInPath = '/sign-in/invitations';
/**
 * The body limit in bytes. It suffices for a token and a name, because an unknown sender may send no more.
 */
const bodyLimit = 16 * 1024;

const acceptanceFactsOf = (request: FastifyRequest): AcceptanceRequestFacts => ({
  ...{ requestId: request.id, ip: request.ip },
  userAgent: userAgentOf(request),
});

export function addInvitationRoutes(app: FastifyInstance, options: InvitationRouteOptions): void {
  const { cookie } = options;
  const recordCall = createCallRecorder('invitations.accept', options);
  addFormRoute(app, options);
  addAcceptRoute(app, recordCall, options);
  if (cookie !== undefined) addJoinRoute(app, recordCall, { ...options, cookie });
}

/** Adds the page that an invitation's e-mail links to. */
function addFormRoute(app: FastifyInstance, { cookie, addresses }: InvitationRouteOptions): void {
  const page = renderInvitationPage(addresses);
  app.get(acceptPath, (request, reply) => {
    const { without } = queryFieldsOf(request);
    // The browser keeps the fragment across the redirect; no script of the target page reads it.
    if (cookie !== undefined && without !== 'account') return reply.redirect(signInPath, 303);
    return reply.headers(page.headers).send(page.body);
  });
}

/** Adds the route that accepts an invitation with a name. Its response contains the new member's token. */
function addAcceptRoute(
  app: FastifyInstance,
  recordCall: RecordCall,
  { pool, reactions }: InvitationRouteOptions,
): void {
  app.post(acceptPath, { bodyLimit }, async (request, reply) => {
    const said: CallFacts = {};
    const accepted = await recordCall(request, said, async () => {
      const result = await acceptInvitation(pool, request.body ?? {}, acceptanceFactsOf(request), reactions);
      said.memberId = result.member.id;
      return result;
    });
    return reply
      .header('content-type', 'application/json; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(JSON.stringify(accepted));
  });
}

/**
 * Adds the route that accepts an invitation with an account. A form of the same origin posts to it without a
 * script, so responses are redirects to pages.
 */
function addJoinRoute(
  app: FastifyInstance,
  recordCall: RecordCall,
  { pool, reactions, cookie }: InvitationRouteOptions & { readonly cookie: SessionCookie },
): void {
  void app.register(async (scope) => {
    addFormParser(scope);
    scope.post(
      '/invitations/join',
      { onRequest: requireOwnPage(cookie), bodyLimit },
      async (request, reply) => {
        const { organization: orgId = '', invitation: invitationId = '' } = formFieldsOf(request);
        try {
          const said: CallFacts = {};
          await recordCall(request, said, async () => {
            const secret = cookieOf(request, cookie.name);
            if (secret === undefined || !isWellFormedSession(secret)) throw unauthorized();
            if (!isUuid(orgId) || !isUuid(invitationId)) throw notFound();
            const account = { sessionHash: hashToken(secret), orgId, invitationId };
            said.memberId = (
              await acceptInvitationByAccount(pool, account, acceptanceFactsOf(request), reactions)
            ).id;
          });
        } catch (error) {
          if (!(error instanceof ApiError) || error.status >= 500) throw error;
          return reply.redirect(`${signInPath}?refused=${error.details.reason}`, 303);
        }
        return reply.redirect(`${signInPath}?joined`, 303);
      },
    );
  });
}
