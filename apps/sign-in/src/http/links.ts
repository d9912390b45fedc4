/** Signing in by a link: requesting it, and redeeming it or its code. */
import { formOf, fromOwnPage, pathWithin, queryOf } from '@muster/http';
import { inSignIn } from '@muster/placement';
import { EmailAddress } from '@muster/registry';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { provideAccount } from '../data/accounts.ts';
import {
  keepLink,
  lookAtLink,
  newLink,
  type ProvenAddress,
  sourceOf,
  useCode,
  useLink,
} from '../data/links.ts';
import { providersOf } from '../data/providers.ts';
import { proveSession } from '../data/sessions.ts';
import { readCode } from '../data/typed-codes.ts';
import { linkMail } from '../link-mail.ts';
import { waysPage } from '../pages/issuers.ts';
import { sendPage } from '../pages/layout.ts';
import { elsewherePage, linkPage, mailPage, overPage, signInPage } from '../pages/pages.ts';
import { mayEnter } from './enter.ts';
import { domainOf } from './issuers.ts';
import { type Parts } from './parts.ts';
import { browserOf } from './requests.ts';

export function addLinks(app: FastifyInstance, around: Parts): void {
  const { pool, config, cookies, mailer, logger, throttle, ways } = around;
  const onRequest = fromOwnPage(config.cookie);

  app.post('/auth/link', { onRequest }, async (request, reply) => {
    await throttle(request);
    const { email: typed = '', to: named, by } = formOf(request);
    const to = pathWithin(named, config.HOME_PATH);
    const parsed = EmailAddress.safeParse(typed.trim());
    if (!parsed.success) {
      const problem = 'Enter a valid e-mail address.';
      return sendPage(reply, signInPage(ways, { to, email: typed.slice(0, 320), problem }));
    }
    const email = parsed.data;
    const providers = by === 'mail' ? [] : await inSignIn(pool, (db) => providersOf(db, domainOf(email)));
    if (providers.length > 0) return sendPage(reply, waysPage({ to, email }, providers));
    const link = newLink();
    const id = await inSignIn(pool, async (db) => {
      const source = await sourceOf(db, email, { ip: request.ip, known: cookies.read(request, 'known') });
      return source === null ? null : keepLink(db, link, { email, returnTo: to, source });
    });
    // Neither the response nor its timing reveals whether an e-mail is sent.
    if (id !== null) {
      void inSignIn(pool, (db) => mayEnter(db, config.SIGN_UP, email))
        .then(async (may) => {
          if (may) await mailer.send(linkMail(email, config.baseUrl, link), id);
        })
        .catch((error: unknown) => {
          logger.error({ err: error, requestId: request.id }, 'a link could not be mailed');
        });
    }
    cookies.set(reply, 'link', link.nonce);
    return reply.redirect('/sign-in/mail', 303);
  });

  app.get('/sign-in/mail', (_request, reply) => sendPage(reply, mailPage(null)));

  // Mail scanners also open links, so opening one does not redeem it.
  app.get('/auth/link', async (request, reply) => {
    await throttle(request);
    const { token = '' } = queryOf(request);
    const state = await inSignIn(pool, (db) => lookAtLink(db, token, cookies.read(request, 'link')));
    if (state === 'here') return sendPage(reply, linkPage(token));
    return sendPage(reply, state === 'elsewhere' ? elsewherePage : overPage);
  });

  app.post('/auth/link/use', { onRequest }, async (request, reply) => {
    await throttle(request);
    const { token = '' } = formOf(request);
    const nonce = cookies.read(request, 'link');
    const proven = await inSignIn(pool, (db) => useLink(db, token, nonce));
    return proven === undefined ? sendPage(reply, overPage) : signIn(request, reply, proven);
  });

  app.post('/auth/code', { onRequest }, async (request, reply) => {
    await throttle(request);
    const code = readCode(formOf(request)['code'] ?? '');
    const nonce = cookies.read(request, 'link');
    const proven = await inSignIn(pool, (db) => useCode(db, code, nonce));
    if (proven !== undefined) return signIn(request, reply, proven);
    const why = 'This code is wrong or has expired. After three wrong codes, request a new e-mail.';
    return sendPage(reply, mailPage(why));
  });

  async function signIn(request: FastifyRequest, reply: FastifyReply, { email, returnTo }: ProvenAddress) {
    const before = cookies.read(request, 'session');
    const secret = await inSignIn(pool, async (db) =>
      proveSession(db, await provideAccount(db, email), 'link', { browser: browserOf(request), before }),
    );
    cookies.clear(reply, 'link');
    cookies.set(reply, 'session', secret);
    return reply.redirect(returnTo, 303);
  }
}
