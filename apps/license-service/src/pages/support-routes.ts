/** Routes of the support pages, on which signed-in people search and change licenses. */
import { sql } from '@muster/driver';
import { forbidden, formOf } from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { endingOf } from '../api/licenses.ts';
import { baseUrlOf } from '../api/routes.ts';
import { getLicense, type License, listLicenses } from '../operators/license.ts';
import { heldMachines, release } from '../operators/machines.ts';
import { type Supporter } from '../operators/sessions.ts';
import { type Db, inTransaction, Refused } from '../operators/transaction.ts';
import { listDenials, listEvents } from '../operators/trail.ts';
import { type AirGapDownload } from './answers.ts';
import { type ServicePage, sendPage } from './layout.ts';
import { linkTo, usualLinkSeconds } from './links.ts';
import { type SupportSignIn, type PeopleOptions } from './people.ts';
import { openedNow, sendAnswered, slotOf, upload } from './shared.ts';
import { licensePage, searchPage } from './support.ts';

const mostShown = 50;
const longestQuery = 128;

interface Support {
  readonly options: PeopleOptions;
  readonly people: SupportSignIn;
}

/** Runs `work` for the signed-in person. Shows the sign-in page to others. */
async function forSupport(
  { options, people }: Support,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (db: Db, supporter: Supporter) => Promise<ServicePage | AirGapDownload>,
): Promise<FastifyReply> {
  const done = await inTransaction(options.pool, async (db) => {
    const supporter = await people.sessionOf(db, request);
    if (supporter === undefined) return undefined;
    await db.all(sql`select set_config('licenses.actor', ${supporter.actor}, true)`);
    return work(db, supporter);
  });
  if (done !== undefined && 'answer' in done) return sendAnswered(reply, done);
  return sendPage(reply, done ?? people.signInPage(request));
}

async function licenseFor(db: Db, { rights }: Supporter, id: string): Promise<License> {
  const license = await getLicense(db, { id });
  if (!rights.has(license.product)) throw new Refused('not_found', 'no license has this id');
  return license;
}

/** Reads a license and requires the right to change it. Throws if the person lacks the right. */
async function licenseToChange(db: Db, supporter: Supporter, id: string): Promise<License> {
  const license = await licenseFor(db, supporter, id);
  if (supporter.rights.get(license.product)?.includes('change') !== true)
    throw forbidden('not_operator', 'You can’t change licenses of this product.');
  return license;
}

async function shownLicense(
  options: PeopleOptions,
  db: Db,
  supporter: Supporter,
  id: string,
  request: FastifyRequest,
  said?: string,
): Promise<ServicePage> {
  const license = await licenseFor(db, supporter, id);
  return licensePage({
    ...{ supporter, license, machines: await heldMachines(db, id) },
    ...{ events: await listEvents(db, id, mostShown), denials: await listDenials(db, id, mostShown) },
    link: baseUrlOf(options, request) + (await linkTo(db, openedNow(options).seals, id, usualLinkSeconds)),
    ...(said !== undefined && { said }),
  });
}

async function search(db: Db, { rights }: Supporter, query: string): Promise<License[]> {
  const ending = endingOf(query);
  const by = [
    { orderRef: query },
    { customerRef: query },
    ...(ending.length === 4 ? [{ hint: ending }] : []),
  ];
  const found = new Map<string, License>();
  for (const one of by)
    for (const license of await listLicenses(db, {
      ...one,
      products: [...rights.keys()],
      limit: mostShown,
    }))
      found.set(license.id, license);
  return [...found.values()];
}

/** Normalizes a search text to one line of limited length. */
const queryOf = (given: unknown): string =>
  typeof given === 'string'
    ? given
        .trim()
        .slice(0, longestQuery)
        .replaceAll(/\p{Cc}/gu, '')
    : '';

export function addSupportRoutes(app: FastifyInstance, support: Support): void {
  const { options } = support;
  app.get<{ Querystring: { q?: unknown } }>('/support', (request, reply) =>
    forSupport(support, request, reply, async (db, supporter) => {
      const query = queryOf(request.query.q);
      return searchPage(supporter, query, query === '' ? undefined : await search(db, supporter, query));
    }),
  );
  app.get<{ Params: { id: string } }>('/support/licenses/:id', (request, reply) =>
    forSupport(support, request, reply, (db, supporter) =>
      shownLicense(options, db, supporter, request.params.id, request),
    ),
  );
  app.post<{ Params: { id: string } }>('/support/licenses/:id/release', (request, reply) =>
    forSupport(support, request, reply, async (db, supporter) => {
      const { id } = request.params;
      await licenseToChange(db, supporter, id);
      await release(db, { id }, { kind: 'slot', slot: slotOf(formOf(request)) });
      return shownLicense(
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
    forSupport(support, request, reply, async (db, supporter) => {
      const { id } = await licenseToChange(db, supporter, request.params.id);
      return upload(options, db, request, id);
    }),
  );
}
