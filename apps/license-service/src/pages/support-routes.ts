/** The pages of support, for people who are signed in: searching licenses, and changing one. */
import { forbidden, formOf } from '@muster/http';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { endingOf } from '../api/licenses.ts';
import { baseUrlOf } from '../api/routes.ts';
import { getLicense, type License, listLicenses } from '../operators/license.ts';
import { heldMachines, release } from '../operators/machines.ts';
import { type Supporter } from '../operators/sessions.ts';
import { type Ask, inTransaction, Refused } from '../operators/transaction.ts';
import { listDenials, listEvents } from '../operators/trail.ts';
import { type Answered } from './answers.ts';
import { type Page, sendPage } from './layout.ts';
import { linkTo, usualLinkSeconds } from './links.ts';
import { type People, type PeopleOptions } from './people.ts';
import { openedNow, sendAnswered, slotOf, upload } from './shared.ts';
import { licensePage, searchPage } from './support.ts';

const mostShown = 50;
const longestQuery = 128;

interface Support {
  readonly options: PeopleOptions;
  readonly people: People;
}

/** Runs `work` for the person who is signed in; shows others where to sign in. */
async function forSupport(
  { options, people }: Support,
  request: FastifyRequest,
  reply: FastifyReply,
  work: (ask: Ask, supporter: Supporter) => Promise<Page | Answered>,
): Promise<FastifyReply> {
  const done = await inTransaction(options.pool, async (ask) => {
    const supporter = await people.sessionOf(ask, request);
    if (supporter === undefined) return undefined;
    await ask(`select set_config('licenses.actor', $1, true)`, [supporter.actor]);
    return work(ask, supporter);
  });
  if (done !== undefined && 'answer' in done) return sendAnswered(reply, done);
  return sendPage(reply, done ?? people.signInPage(request));
}

async function licenseFor(ask: Ask, { rights }: Supporter, id: string): Promise<License> {
  const license = await getLicense(ask, { id });
  if (!rights.has(license.product)) throw new Refused('not_found', 'no license has this id');
  return license;
}

/** The license that this person may change. */
async function licenseToChange(ask: Ask, supporter: Supporter, id: string): Promise<License> {
  const license = await licenseFor(ask, supporter, id);
  if (supporter.rights.get(license.product)?.includes('change') !== true)
    throw forbidden('not_operator', 'You can’t change licenses of this product.');
  return license;
}

async function shownLicense(
  options: PeopleOptions,
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
    link: baseUrlOf(options, request) + (await linkTo(ask, openedNow(options).seals, id, usualLinkSeconds)),
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

/** What is searched for, as it may be asked: a line of some length. */
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
    forSupport(support, request, reply, async (ask, supporter) => {
      const query = queryOf(request.query.q);
      return searchPage(supporter, query, query === '' ? undefined : await search(ask, supporter, query));
    }),
  );
  app.get<{ Params: { id: string } }>('/support/licenses/:id', (request, reply) =>
    forSupport(support, request, reply, (ask, supporter) =>
      shownLicense(options, ask, supporter, request.params.id, request),
    ),
  );
  app.post<{ Params: { id: string } }>('/support/licenses/:id/release', (request, reply) =>
    forSupport(support, request, reply, async (ask, supporter) => {
      const { id } = request.params;
      await licenseToChange(ask, supporter, id);
      await release(ask, { id }, { kind: 'slot', slot: slotOf(formOf(request)) });
      return shownLicense(
        options,
        ask,
        supporter,
        id,
        request,
        'Place freed. The next machine that activates the key takes it.',
      );
    }),
  );
  app.post<{ Params: { id: string } }>('/support/licenses/:id/answer', (request, reply) =>
    forSupport(support, request, reply, async (ask, supporter) => {
      const { id } = await licenseToChange(ask, supporter, request.params.id);
      return upload(options, ask, request, id);
    }),
  );
}
