/** Routes of the support pages, on which signed-in people search and change licenses. */
import { sql } from '@muster/driver';
import { forbidden, formFieldsOf } from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { keyEndingOf } from '../api/licenses.ts';
import { baseUrlOf } from '../api/routes.ts';
import { getLicense, type License, listLicenses } from '../operators/license.ts';
import { listHeldMachines, releaseMachines } from '../operators/machines.ts';
import { type SupportPerson } from '../operators/sessions.ts';
import { type Db, inTransaction, RefusedError } from '../operators/transaction.ts';
import { listDenials, listEvents } from '../operators/trail.ts';
import { type AirGapDownload } from './answers.ts';
import { type ServicePage, sendPage } from './layout.ts';
import { createCustomerLink, defaultLinkSeconds } from './links.ts';
import { type SupportSignIn, type SupportPagesOptions } from './people.ts';
import { requireOpenedVault, sendAnswerOrRefusal, slotOfForm, answerOfflineUpload } from './shared.ts';
import { licensePage, searchPage } from './support.ts';

const maxShownItems = 50;
const maxQueryLength = 128;

interface SupportContext {
  readonly options: SupportPagesOptions;
  readonly supportSignIn: SupportSignIn;
}

/** Runs `work` for the signed-in person. Shows the sign-in page to others. */
async function runForSupportPerson(
  { options, supportSignIn }: SupportContext,
  request: FastifyRequest,
  reply: FastifyReply,
  handler: (db: Db, supporter: SupportPerson) => Promise<ServicePage | AirGapDownload>,
): Promise<FastifyReply> {
  const done = await inTransaction(options.pool, async (db) => {
    const supporter = await supportSignIn.sessionOf(db, request);
    if (supporter === undefined) return undefined;
    await db.all(sql`select set_config('licenses.actor', ${supporter.actor}, true)`);
    return handler(db, supporter);
  });
  if (done !== undefined && 'answer' in done) return sendAnswerOrRefusal(reply, done);
  return sendPage(reply, done ?? supportSignIn.signInPage(request));
}

async function getReadableLicense(db: Db, { scopesByProduct }: SupportPerson, id: string): Promise<License> {
  const license = await getLicense(db, { id });
  if (!scopesByProduct.has(license.product)) throw new RefusedError('not_found', 'no license has this id');
  return license;
}

/** Reads a license and requires the right to change it. Throws if the person lacks the right. */
async function getChangeableLicense(db: Db, supporter: SupportPerson, id: string): Promise<License> {
  const license = await getReadableLicense(db, supporter, id);
  if (supporter.scopesByProduct.get(license.product)?.includes('change') !== true)
    throw forbidden('not_operator', 'You can’t change licenses of this product.');
  return license;
}

async function loadLicensePage(
  options: SupportPagesOptions,
  db: Db,
  supporter: SupportPerson,
  id: string,
  request: FastifyRequest,
  notice?: string,
): Promise<ServicePage> {
  const license = await getReadableLicense(db, supporter, id);
  return licensePage({
    ...{ supporter, license, machines: await listHeldMachines(db, id) },
    ...{ events: await listEvents(db, id, maxShownItems), denials: await listDenials(db, id, maxShownItems) },
    link:
      baseUrlOf(options, request) +
      (await createCustomerLink(db, requireOpenedVault(options).seals, id, defaultLinkSeconds)),
    ...(notice !== undefined && { notice }),
  });
}

async function searchLicenses(db: Db, { scopesByProduct }: SupportPerson, query: string): Promise<License[]> {
  const ending = keyEndingOf(query);
  const by = [
    { orderRef: query },
    { customerRef: query },
    ...(ending.length === 4 ? [{ hint: ending }] : []),
  ];
  const found = new Map<string, License>();
  for (const one of by)
    for (const license of await listLicenses(db, {
      ...one,
      products: [...scopesByProduct.keys()],
      limit: maxShownItems,
    }))
      found.set(license.id, license);
  return [...found.values()];
}

/** Normalizes a search text to one line of limited length. */
const normalizeQuery = (queryText: unknown): string =>
  typeof queryText === 'string'
    ? queryText
        .trim()
        .slice(0, maxQueryLength)
        .replaceAll(/\p{Cc}/gu, '')
    : '';

export function addSupportRoutes(app: FastifyInstance, support: SupportContext): void {
  const { options } = support;
  app.get<{ Querystring: { q?: unknown } }>('/support', (request, reply) =>
    runForSupportPerson(support, request, reply, async (db, supporter) => {
      const query = normalizeQuery(request.query.q);
      return searchPage(
        supporter,
        query,
        query === '' ? undefined : await searchLicenses(db, supporter, query),
      );
    }),
  );
  app.get<{ Params: { id: string } }>('/support/licenses/:id', (request, reply) =>
    runForSupportPerson(support, request, reply, (db, supporter) =>
      loadLicensePage(options, db, supporter, request.params.id, request),
    ),
  );
  app.post<{ Params: { id: string } }>('/support/licenses/:id/release', (request, reply) =>
    runForSupportPerson(support, request, reply, async (db, supporter) => {
      const { id } = request.params;
      await getChangeableLicense(db, supporter, id);
      await releaseMachines(db, { id }, { kind: 'slot', slot: slotOfForm(formFieldsOf(request)) });
      return loadLicensePage(
        options,
        db,
        supporter,
        id,
        request,
        'Slot released. The next machine that activates the key uses it.',
      );
    }),
  );
  app.post<{ Params: { id: string } }>('/support/licenses/:id/answer', (request, reply) =>
    runForSupportPerson(support, request, reply, async (db, supporter) => {
      const { id } = await getChangeableLicense(db, supporter, request.params.id);
      return answerOfflineUpload(options, db, request, id);
    }),
  );
}
