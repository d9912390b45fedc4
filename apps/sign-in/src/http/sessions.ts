/** The sign-in page, the current session for pages, and signing out. */
import { forbidden, formOf, fromOwnPage, pathWithin, queryOf, requireSameOrigin } from '@muster/http';
import { inSignIn } from '@muster/placement';
import { isUuid, unauthorized } from '@muster/registry';
import { type FastifyInstance, type FastifyRequest } from 'fastify';
import { listOrganizations, provideAccount } from '../data/accounts.ts';
import { listAskedProofs } from '../data/providers.ts';
import { endSession, findSession, proveSession } from '../data/sessions.ts';
import { askedProofsPage } from '../pages/issuers.ts';
import { sendPage } from '../pages/layout.ts';
import { signInPage } from '../pages/pages.ts';
import { sendHome } from './organizations.ts';
import { browserOf } from './requests.ts';
import { type Parts } from './parts.ts';

const isLoopback = (address: string): boolean => /^(::ffff:)?127\.|^::1$/.test(address);

export function addSessions(app: FastifyInstance, around: Parts): void {
  const { pool, config, cookies, throttle, ways } = around;
  const onRequest = fromOwnPage(config.cookie);
  const sessionOf = (request: FastifyRequest) =>
    inSignIn(pool, async (db) => {
      const session = await findSession(db, cookies.read(request, 'session'));
      return session && { session, organizations: await listOrganizations(db, session.account.id) };
    });

  app.get('/sign-in', async (request, reply) => {
    const { to: named, again, organization } = queryOf(request);
    const to = pathWithin(named, config.HOME_PATH);
    // `again` asks a signed-in person to authenticate again.
    const found = again === undefined ? await sessionOf(request) : undefined;
    if (found === undefined) {
      // After signing in, redirect to this page again. It then asks for the proof that the organization
      // requires.
      const next = organization !== undefined ? pathWithin(request.url, to) : to;
      return sendPage(reply, signInPage(ways, { to: next }));
    }
    if (organization !== undefined && isUuid(organization)) {
      const { id, email } = found.session.account;
      const asked = await inSignIn(pool, (db) => listAskedProofs(db, id, organization));
      if (asked.length > 0) return sendPage(reply, askedProofsPage(asked, { to, email }, ways));
    }
    if (to !== '/sign-in' && named !== undefined) return reply.redirect(to, 303);
    return sendHome(around, reply, found.session.account);
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
    await inSignIn(pool, async (db) => {
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
    if (!isLoopback(request.ip)) throw forbidden('foreign_host');
    const before = cookies.read(request, 'session');
    const secret = await inSignIn(pool, async (db) =>
      proveSession(db, await provideAccount(db, demo), 'link', { browser: browserOf(request), before }),
    );
    cookies.set(reply, 'session', secret);
    return reply.redirect(pathWithin(formOf(request)['to'], config.HOME_PATH), 303);
  });
}
