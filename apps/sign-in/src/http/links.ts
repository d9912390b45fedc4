/** Signing in by a link: requesting it, and redeeming it or its code. */
import { formFieldsOf, requireOwnPage, pathWithinOrigin, queryFieldsOf } from '@muster/http';
import { inSignInTransaction } from '@muster/placement';
import { EmailAddress } from '@muster/contract';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { findOrCreateAccount } from '../data/accounts.ts';
import {
  storeLink,
  readLinkState,
  createLinkSecrets,
  type ConfirmedAddress,
  linkRequestSourceOf,
  redeemCode,
  redeemLink,
} from '../data/links.ts';
import { findProvidersOfDomain } from '../data/providers.ts';
import { startOrRenewSession } from '../data/sessions.ts';
import { parseCode } from '../data/typed-codes.ts';
import { buildLinkMail } from '../link-mail.ts';
import { signInMethodsPage } from '../pages/issuers.ts';
import { sendPage } from '../pages/layout.ts';
import {
  otherBrowserPage,
  confirmLinkPage,
  checkMailPage,
  linkExpiredPage,
  signInPage,
} from '../pages/pages.ts';
import { mayHaveAccount } from './enter.ts';
import { domainOf } from './issuers.ts';
import { type RouteDependencies } from './parts.ts';
import { browserFactsOf } from './requests.ts';

export function addLinkRoutes(app: FastifyInstance, dependencies: RouteDependencies): void {
  const { pool, config, cookies, mailer, logger, throttle, ways } = dependencies;
  const onRequest = requireOwnPage(config.cookie);

  app.post('/auth/link', { onRequest }, async (request, reply) => {
    await throttle(request);
    const { email: typed = '', to: named, by } = formFieldsOf(request);
    const to = pathWithinOrigin(named, config.HOME_PATH);
    const parsed = EmailAddress.safeParse(typed.trim());
    if (!parsed.success) {
      const problem = 'Enter a valid e-mail address.';
      return sendPage(reply, signInPage(ways, { returnPath: to, email: typed.slice(0, 320), problem }));
    }
    const email = parsed.data;
    const providers =
      by === 'mail'
        ? []
        : await inSignInTransaction(pool, (db) => findProvidersOfDomain(db, domainOf(email)));
    if (providers.length > 0) return sendPage(reply, signInMethodsPage({ to, email }, providers));
    const link = createLinkSecrets();
    const id = await inSignInTransaction(pool, async (db) => {
      const source = await linkRequestSourceOf(db, email, {
        ip: request.ip,
        lastSessionSecret: cookies.read(request, 'known'),
      });
      return source === null ? null : storeLink(db, link, { email, returnTo: to, source });
    });
    // Neither the response nor its timing reveals whether an e-mail is sent.
    if (id !== null)
      void inSignInTransaction(pool, (db) => mayHaveAccount(db, config.SIGN_UP, email))
        .then(async (may) => {
          if (may) await mailer.send(buildLinkMail(email, config.baseUrl, link), id);
        })
        .catch((error: unknown) => {
          logger.error({ err: error, requestId: request.id }, 'a link could not be mailed');
        });
    cookies.set(reply, 'link', link.nonce);
    return reply.redirect('/sign-in/mail', 303);
  });

  app.get('/sign-in/mail', (_request, reply) => sendPage(reply, checkMailPage(null)));

  // Mail scanners also open links, so opening one does not redeem it.
  app.get('/auth/link', async (request, reply) => {
    await throttle(request);
    const { token = '' } = queryFieldsOf(request);
    const state = await inSignInTransaction(pool, (db) =>
      readLinkState(db, token, cookies.read(request, 'link')),
    );
    if (state === 'here') return sendPage(reply, confirmLinkPage(token));
    return sendPage(reply, state === 'elsewhere' ? otherBrowserPage : linkExpiredPage);
  });

  app.post('/auth/link/use', { onRequest }, async (request, reply) => {
    await throttle(request);
    const { token = '' } = formFieldsOf(request);
    const nonce = cookies.read(request, 'link');
    const proven = await inSignInTransaction(pool, (db) => redeemLink(db, token, nonce));
    return proven === undefined ? sendPage(reply, linkExpiredPage) : signIn(request, reply, proven);
  });

  app.post('/auth/code', { onRequest }, async (request, reply) => {
    await throttle(request);
    const code = parseCode(formFieldsOf(request)['code'] ?? '');
    const nonce = cookies.read(request, 'link');
    const proven = await inSignInTransaction(pool, (db) => redeemCode(db, code, nonce));
    if (proven !== undefined) return signIn(request, reply, proven);
    const why = 'This code is wrong or has expired. After three wrong codes, request a new e-mail.';
    return sendPage(reply, checkMailPage(why));
  });

  async function signIn(request: FastifyRequest, reply: FastifyReply, { email, returnTo }: ConfirmedAddress) {
    const before = cookies.read(request, 'session');
    const secret = await inSignInTransaction(pool, async (db) =>
      startOrRenewSession(db, await findOrCreateAccount(db, email), 'link', {
        browser: browserFactsOf(request),
        previousSecret: before,
      }),
    );
    cookies.clear(reply, 'link');
    cookies.set(reply, 'session', secret);
    return reply.redirect(returnTo, 303);
  }
}
