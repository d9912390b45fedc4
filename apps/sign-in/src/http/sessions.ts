/** The sign-in page, the current session for pages, and signing out. */
import {
  forbidden,
  formFieldsOf,
  requireOwnPage,
  pathWithinOrigin,
  queryFieldsOf,
  requireSameOrigin,
} from '@muster/http';
import { inSignInTransaction } from '@muster/placement';
import { isUuid, unauthorized } from '@muster/contract';
import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { listOrganizations, findOrCreateAccount } from '../data/accounts.ts';
import { listRequiredProofs } from '../data/providers.ts';
import { endSession, findSession, startOrRenewSession } from '../data/sessions.ts';
import { requiredProofsPage } from '../pages/issuers.ts';
import { sendPage } from '../pages/layout.ts';
import { signInPage } from '../pages/pages.ts';
import { sendHomePage } from './organizations.ts';
import { browserFactsOf } from './requests.ts';
import { type RouteDependencies } from './parts.ts';

const isLoopbackAddress = (address: string): boolean => /^(::ffff:)?127\.|^::1$/.test(address);

export function addSessionRoutes(app: FastifyInstance, dependencies: RouteDependencies): void {
  const { pool, config, cookies, throttle, ways } = dependencies;
  const onRequest = requireOwnPage(config.cookie);
  const sessionOf = (request: FastifyRequest) =>
    inSignInTransaction(pool, async (db) => {
      const session = await findSession(db, cookies.read(request, 'session'));
      return session && { session, organizations: await listOrganizations(db, session.account.id) };
    });

  app.get('/sign-in', async (request, reply) => {
    const { to: named, again, organization } = queryFieldsOf(request);
    const to = pathWithinOrigin(named, config.HOME_PATH);
    // `again` asks a signed-in person to authenticate again.
    const found = again === undefined ? await sessionOf(request) : undefined;
    if (found === undefined) {
      // After signing in, redirect to this page again. It then asks for the proof that the organization
      // requires.
      const next = organization !== undefined ? pathWithinOrigin(request.url, to) : to;
      return sendPage(reply, signInPage(ways, { returnPath: next }));
    }
    if (organization !== undefined && isUuid(organization)) {
      const { id, email } = found.session.account;
      const requiredProofs = await inSignInTransaction(pool, (db) =>
        listRequiredProofs(db, id, organization),
      );
      if (requiredProofs.length > 0)
        return sendPage(reply, requiredProofsPage(requiredProofs, { to, email }, ways));
    }
    if (to !== '/sign-in' && named !== undefined) return reply.redirect(to, 303);
    return sendHomePage(dependencies, reply, found.session.account);
  });

  app.get('/auth/session', async (request, reply) => {
    requireSameOrigin(request, config.cookie);
    const found = await sessionOf(request);
    if (found === undefined) throw unauthorized();
    const { session, organizations } = found;
    const { id, account, provenAt, expiresAt } = session;
    return reply
      .header('cache-control', 'no-store')
      .header('content-type', 'application/json; charset=utf-8')
      .send(JSON.stringify({ session: { id, provenAt, expiresAt }, account, organizations }));
  });

  app.post('/auth/sign-out', { onRequest }, async (request, reply) => {
    await inSignInTransaction(pool, async (db) => {
      const session = await findSession(db, cookies.read(request, 'session'));
      if (session !== undefined) await endSession(db, session.id);
    });
    cookies.clear(reply, 'session');
    return reply.redirect('/sign-in', 303);
  });

  const { demo } = ways;
  if (demo === null) return;
  app.post('/auth/demo', { onRequest }, async (request, reply) => {
    await throttle(request);
    if (!isLoopbackAddress(request.ip)) throw forbidden('foreign_host');
    const before = cookies.read(request, 'session');
    const secret = await inSignInTransaction(pool, async (db) =>
      startOrRenewSession(db, await findOrCreateAccount(db, demo), 'link', {
        browser: browserFactsOf(request),
        previousSecret: before,
      }),
    );
    cookies.set(reply, 'session', secret);
    return reply.redirect(pathWithinOrigin(formFieldsOf(request)['to'], config.HOME_PATH), 303);
  });
}
