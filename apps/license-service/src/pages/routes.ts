/** The pages: a customer's, by the link of a mail; those of support, by an operators' token. Forms alone change anything. */
import { forbidden, networkOf, retryAfterSeconds, tooMany, unavailable } from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { endingOf } from '../api/licenses.ts';
import { refusalOf } from '../api/refusals.ts';
import { baseUrlOf, type OperatorsOptions } from '../api/routes.ts';
import { getLicense, type License, listLicenses } from '../operators/license.ts';
import { heldMachines, release } from '../operators/machines.ts';
import { findToken, type OperatorToken, tokenOfId } from '../operators/tokens.ts';
import { type Ask, inTransaction, Refused } from '../operators/transaction.ts';
import { listDenials, listEvents } from '../operators/trail.ts';
import { customerPage, problemPage } from './customer.ts';
import { type Page, sendPage } from './layout.ts';
import { licenseOfLink, linkTo, usualLinkSeconds } from './links.ts';
import { releaseByCustomer } from './release.ts';
import { isSealed, namedIn, sealText } from './seals.ts';
import { licensePage, searchPage, signInPage } from './support.ts';

const cookieName = 'license-support';
const sessionSeconds = 8 * 3_600;
const mostShown = 50;
const linkPath = '/my/';

type Form = Readonly<Record<string, string>>;
const formOf = ({ body }: FastifyRequest): Form => (body ?? {}) as Form;

/** A page of another site may not send forms here; browsers say where a form comes from. */
function requireOwnPage({ headers, host }: FastifyRequest): void {
  const { origin, 'sec-fetch-site': site } = headers;
  const isOwn = origin !== undefined && URL.canParse(origin) && new URL(origin).host === host;
  if (!isOwn || (site !== undefined && site !== 'same-origin')) throw forbidden('other_origin');
}

const slotOf = (form: Form): number => {
  const slot = Number(form['slot']);
  if (Number.isInteger(slot) && slot > 0) return slot;
  throw new Refused('free_slot', 'there is no such machine');
};

const titles: Readonly<Record<number, string>> = {
  403: 'Not possible',
  404: 'Not found',
  429: 'Too often',
  503: 'Not available at the moment',
};

export function addPages(root: FastifyInstance, options: OperatorsOptions): void {
  const { pool, limiter, prefix, rate, logger } = options;

  const secretsOf = (): readonly (string | Buffer)[] => {
    const opened = options.opened();
    if (opened === undefined) throw unavailable('database');
    return opened.seals;
  };

  /** Counts what an address asks for; throws 429. */
  const throttle = async ({ ip }: FastifyRequest): Promise<void> => {
    const quotas = await limiter.take([{ key: `${prefix}:pages:${networkOf(ip)}`, rate }]);
    if (quotas.some(({ waitMillis }) => waitMillis > 0))
      throw tooMany('too_many_attempts', retryAfterSeconds(quotas));
  };

  void root.register(async (app) => {
    app.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: 4 * 1024 },
      (_request, text, done) => {
        done(null, Object.fromEntries(new URLSearchParams(text.toString())));
      },
    );
    app.setErrorHandler((error, request, reply) => {
      const known = refusalOf(error);
      if (known === undefined)
        logger.error({ err: error, requestId: request.id, path: request.routeOptions.url }, 'fault');
      const { status, message, retryAfter } = known ?? new Fault();
      if (retryAfter !== undefined) reply.header('retry-after', String(retryAfter));
      return sendPage(reply, problemPage(titles[status] ?? 'That did not work', message, status));
    });
    app.addHook('onRequest', async (request) => {
      request.operation = 'pages';
      await throttle(request);
      if (request.method === 'POST') requireOwnPage(request);
    });
    addCustomer(app);
    addSupport(app);
  });

  function addCustomer(app: FastifyInstance): void {
    const shown = async (ask: Ask, license: License, link: string) => ({
      ...{ license, link, machines: await heldMachines(ask, license.id) },
    });
    app.get<{ Params: { link: string } }>(`${linkPath}:link`, async (request, reply) => {
      const { link } = request.params;
      const page = await inTransaction(pool, async (ask) =>
        customerPage(await shown(ask, await licenseOfLink(ask, secretsOf(), link), link)),
      );
      return sendPage(reply, page);
    });
    app.post<{ Params: { link: string } }>(`${linkPath}:link/release`, async (request, reply) => {
      const { link } = request.params;
      const page = await inTransaction(pool, async (ask) => {
        const { id } = await licenseOfLink(ask, secretsOf(), link);
        const { license, offlineUntil } = await releaseByCustomer(ask, id, slotOf(formOf(request)));
        return customerPage({ ...(await shown(ask, license, link)), released: { offlineUntil } });
      });
      return sendPage(reply, page);
    });
  }

  function setSession(request: FastifyRequest, reply: FastifyReply, value: string, maxAge: number): void {
    const secure = request.protocol === 'https' ? '; Secure' : '';
    void reply.header(
      'set-cookie',
      `${cookieName}=${value}; Max-Age=${maxAge}; Path=/support; HttpOnly; SameSite=Strict${secure}`,
    );
  }

  /** The token by which the person is signed in; undefined where none is, or it counts no more. */
  async function sessionOf(ask: Ask, { headers }: FastifyRequest): Promise<OperatorToken | undefined> {
    const value = new RegExp(`(?:^|; )${cookieName}=([^;]+)`).exec(headers.cookie ?? '')?.[1] ?? '';
    if (!isSealed(secretsOf(), 'session', value)) return undefined;
    const token = await tokenOfId(ask, namedIn(value));
    return token?.scopes.includes('read') === true ? token : undefined;
  }

  /** Runs `work` for the person who is signed in; shows others where to sign in. */
  const forSupport = async (
    request: FastifyRequest,
    reply: FastifyReply,
    work: (ask: Ask, token: OperatorToken) => Promise<Page>,
  ): Promise<FastifyReply> => {
    const page = await inTransaction(pool, async (ask) => {
      const token = await sessionOf(ask, request);
      if (token === undefined) return undefined;
      await ask(`select set_config('licenses.actor', $1, true)`, [`token ${token.name}`]);
      return work(ask, token);
    });
    return sendPage(reply, page ?? signInPage());
  };

  const licenseFor = async (ask: Ask, { product }: OperatorToken, id: string): Promise<License> => {
    const license = await getLicense(ask, { id });
    if (license.product !== product) throw new Refused('not_found', 'no license has this id');
    return license;
  };

  async function shownLicense(
    ask: Ask,
    token: OperatorToken,
    id: string,
    request: FastifyRequest,
    said?: string,
  ): Promise<Page> {
    const license = await licenseFor(ask, token, id);
    return licensePage({
      ...{ token, license, machines: await heldMachines(ask, id) },
      ...{ events: await listEvents(ask, id, mostShown), denials: await listDenials(ask, id, mostShown) },
      link: baseUrlOf(options, request) + (await linkTo(ask, secretsOf(), id, usualLinkSeconds)),
      ...(said !== undefined && { said }),
    });
  }

  async function search(ask: Ask, { product }: OperatorToken, query: string): Promise<License[]> {
    const ending = endingOf(query);
    const by = [
      { orderRef: query },
      { customerRef: query },
      ...(ending.length === 4 ? [{ hint: ending }] : []),
    ];
    const found = new Map<string, License>();
    for (const one of by)
      for (const license of await listLicenses(ask, { ...one, product, limit: mostShown }))
        found.set(license.id, license);
    return [...found.values()];
  }

  function addSupport(app: FastifyInstance): void {
    app.get<{ Querystring: { q?: unknown } }>('/support', (request, reply) =>
      forSupport(request, reply, async (ask, token) => {
        const { q } = request.query;
        const query =
          typeof q === 'string'
            ? q
                .trim()
                .slice(0, 128)
                .replaceAll(/\p{Cc}/gu, '')
            : '';
        return searchPage(token, query, query === '' ? undefined : await search(ask, token, query));
      }),
    );
    app.post('/support/sign-in', async (request, reply) => {
      const secret = (formOf(request)['token'] ?? '').trim();
      const token = await inTransaction(pool, (ask) => findToken(ask, secret));
      if (token === undefined)
        return sendPage(reply, signInPage('No token is this one, or it counts no more.'));
      if (!token.scopes.includes('read'))
        return sendPage(reply, signInPage('This token may not read: it was made without that scope.'));
      const untilSeconds = Math.floor(Date.now() / 1_000) + sessionSeconds;
      const session = sealText(secretsOf(), 'session', { what: token.id, untilSeconds });
      setSession(request, reply, session, sessionSeconds);
      return reply.redirect('/support', 303);
    });
    app.post('/support/sign-out', (request, reply) => {
      setSession(request, reply, '', 0);
      return reply.redirect('/support', 303);
    });
    app.get<{ Params: { id: string } }>('/support/licenses/:id', (request, reply) =>
      forSupport(request, reply, (ask, token) => shownLicense(ask, token, request.params.id, request)),
    );
    app.post<{ Params: { id: string } }>('/support/licenses/:id/release', (request, reply) =>
      forSupport(request, reply, async (ask, token) => {
        const { id } = request.params;
        if (!token.scopes.includes('change'))
          throw forbidden('not_operator', 'This token may not change licenses.');
        await licenseFor(ask, token, id);
        await release(ask, { id }, { kind: 'slot', slot: slotOf(formOf(request)) });
        return shownLicense(
          ask,
          token,
          id,
          request,
          'Freed. The next machine that asks with the key gets the place.',
        );
      }),
    );
  }
}

/** A fault of ours, which tells nothing of the inside. */
class Fault {
  readonly status = 500;
  readonly message = 'Something went wrong on our side. Try it once more.';
  readonly retryAfter = undefined;
}
