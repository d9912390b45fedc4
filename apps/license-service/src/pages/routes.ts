/** The pages: a customer's, by the link of a mail; those of support, to who is signed in for that. Forms alone change anything. */
import {
  forbidden,
  type Form,
  formOf,
  networkOf,
  retryAfterSeconds,
  takeForms,
  tooMany,
  unavailable,
} from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { endingOf } from '../api/licenses.ts';
import { refusalOf } from '../api/refusals.ts';
import { baseUrlOf } from '../api/routes.ts';
import { getLicense, type License, listLicenses } from '../operators/license.ts';
import { heldMachines, release } from '../operators/machines.ts';
import { type Supporter } from '../operators/sessions.ts';
import { type Ask, inTransaction, Refused } from '../operators/transaction.ts';
import { listDenials, listEvents } from '../operators/trail.ts';
import { type Answered, answerUpload, sendAnswer, takeUploads } from './answers.ts';
import { customerPage, problemPage } from './customer.ts';
import { type Page, sendPage } from './layout.ts';
import { licenseOfLink, linkTo, usualLinkSeconds } from './links.ts';
import { releaseByCustomer } from './release.ts';
import { createPeople, type PeopleOptions } from './people.ts';
import { licensePage, searchPage } from './support.ts';
import { type Opened } from '../vault.ts';

const mostShown = 50;
const linkPath = '/my/';

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

export function addPages(root: FastifyInstance, options: PeopleOptions): void {
  const people = createPeople(options);
  const { pool, limiter, prefix, rate, logger } = options;

  const openedNow = (): Opened => {
    const opened = options.opened();
    if (opened === undefined) throw unavailable('database');
    return opened;
  };
  const secretsOf = (): readonly (string | Buffer)[] => openedNow().seals;

  /** Counts what an address asks for; throws 429. */
  const throttle = async ({ ip }: FastifyRequest): Promise<void> => {
    const quotas = await limiter.take([{ key: `${prefix}:pages:${networkOf(ip)}`, rate }]);
    if (quotas.some(({ waitMillis }) => waitMillis > 0))
      throw tooMany('too_many_attempts', retryAfterSeconds(quotas));
  };

  void root.register(async (app) => {
    takeForms(app);
    takeUploads(app);
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
    });
    await app.register(async (scope) => {
      scope.addHook('onRequest', async (request) => {
        if (request.method === 'POST') requireOwnPage(request);
      });
      addCustomer(scope);
    });
    await app.register(async (scope) => {
      people.addRoutes(scope);
      addSupport(scope);
    });
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
    app.post<{ Params: { link: string } }>(`${linkPath}:link/answer`, async (request, reply) => {
      const answered = await inTransaction(pool, async (ask) => {
        const { id } = await licenseOfLink(ask, secretsOf(), request.params.link);
        await ask(`select set_config('licenses.actor', 'the customer, by a file', true)`);
        return upload(ask, request, id);
      });
      return sendAnswered(reply, answered);
    });
  }

  const upload = (ask: Ask, request: FastifyRequest, licenseId: string): Promise<Answered> =>
    answerUpload(ask, openedNow(), { request, licenseId, seconds: options.airGapSeconds });

  /** The answer, as a file; in words where it is a refusal, which the transaction has counted. */
  const sendAnswered = (reply: FastifyReply, { answer, refused }: Answered): FastifyReply =>
    refused === undefined
      ? sendAnswer(reply, answer)
      : sendPage(reply, problemPage('Not possible', refused, 409));

  /** Runs `work` for the person who is signed in; shows others where to sign in. */
  const forSupport = async (
    request: FastifyRequest,
    reply: FastifyReply,
    work: (ask: Ask, supporter: Supporter) => Promise<Page | Answered>,
  ): Promise<FastifyReply> => {
    const done = await inTransaction(pool, async (ask) => {
      const supporter = await people.sessionOf(ask, request);
      if (supporter === undefined) return undefined;
      await ask(`select set_config('licenses.actor', $1, true)`, [supporter.actor]);
      return work(ask, supporter);
    });
    if (done !== undefined && 'answer' in done) return sendAnswered(reply, done);
    return sendPage(reply, done ?? people.signInPage(request));
  };

  const licenseFor = async (ask: Ask, { rights }: Supporter, id: string): Promise<License> => {
    const license = await getLicense(ask, { id });
    if (!rights.has(license.product)) throw new Refused('not_found', 'no license has this id');
    return license;
  };

  /** The license that this person may change. */
  const licenseToChange = async (ask: Ask, supporter: Supporter, id: string): Promise<License> => {
    const license = await licenseFor(ask, supporter, id);
    if (supporter.rights.get(license.product)?.includes('change') !== true)
      throw forbidden('not_operator', 'You may not change licenses of this product.');
    return license;
  };

  async function shownLicense(
    ask: Ask,
    supporter: Supporter,
    id: string,
    request: FastifyRequest,
    said?: string,
  ): Promise<Page> {
    const license = await licenseFor(ask, supporter, id);
    return licensePage({
      ...{ supporter, license, machines: await heldMachines(ask, id) },
      ...{ events: await listEvents(ask, id, mostShown), denials: await listDenials(ask, id, mostShown) },
      link: baseUrlOf(options, request) + (await linkTo(ask, secretsOf(), id, usualLinkSeconds)),
      ...(said !== undefined && { said }),
    });
  }

  async function search(ask: Ask, { rights }: Supporter, query: string): Promise<License[]> {
    const ending = endingOf(query);
    const by = [
      { orderRef: query },
      { customerRef: query },
      ...(ending.length === 4 ? [{ hint: ending }] : []),
    ];
    const found = new Map<string, License>();
    for (const one of by)
      for (const license of await listLicenses(ask, {
        ...one,
        products: [...rights.keys()],
        limit: mostShown,
      }))
        found.set(license.id, license);
    return [...found.values()];
  }

  function addSupport(app: FastifyInstance): void {
    app.get<{ Querystring: { q?: unknown } }>('/support', (request, reply) =>
      forSupport(request, reply, async (ask, supporter) => {
        const { q } = request.query;
        const query =
          typeof q === 'string'
            ? q
                .trim()
                .slice(0, 128)
                .replaceAll(/\p{Cc}/gu, '')
            : '';
        return searchPage(supporter, query, query === '' ? undefined : await search(ask, supporter, query));
      }),
    );
    app.get<{ Params: { id: string } }>('/support/licenses/:id', (request, reply) =>
      forSupport(request, reply, (ask, supporter) =>
        shownLicense(ask, supporter, request.params.id, request),
      ),
    );
    app.post<{ Params: { id: string } }>('/support/licenses/:id/release', (request, reply) =>
      forSupport(request, reply, async (ask, supporter) => {
        const { id } = request.params;
        await licenseToChange(ask, supporter, id);
        await release(ask, { id }, { kind: 'slot', slot: slotOf(formOf(request)) });
        return shownLicense(
          ask,
          supporter,
          id,
          request,
          'Freed. The next machine that asks with the key gets the place.',
        );
      }),
    );
    app.post<{ Params: { id: string } }>('/support/licenses/:id/answer', (request, reply) =>
      forSupport(request, reply, async (ask, supporter) => {
        const { id } = await licenseToChange(ask, supporter, request.params.id);
        return upload(ask, request, id);
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
