/** Operations on licenses for operators' programs, such as a shop, a support desk or a renewal script. */
import { z } from 'zod';
import { entitle, renew, resize, resume, revoke, rotate, suspend } from '../operators/change.ts';
import { issue } from '../operators/issue.ts';
import { type License, listLicenses, lockLicense } from '../operators/license.ts';
import { heldMachines, release, transfer } from '../operators/machines.ts';
import { findPlan, type Term as PlanTerm } from '../operators/plans.ts';
import { secondsOf } from '../operators/spans.ts';
import { listDenials, listEvents } from '../operators/trail.ts';
import { Refused } from '../operators/transaction.ts';
import { linkTo, longestLinkSeconds, usualLinkSeconds } from '../pages/links.ts';
import { operation, ownLicense, type OperationContext } from './operation.ts';
import {
  CustomerRef,
  DenialRecord,
  EventRecord,
  LicenseId,
  LicenseRecord,
  Limit,
  MachineId,
  MachineLimit,
  MachineRecord,
  OwnFeatures,
  PlanName,
  Reason,
  Reference,
  Span,
  Term,
  termOf,
  toRecord,
} from './records.ts';

const One = z.object({ license: LicenseRecord });
const mostAtOnce = 100;

const IssuedRecord = z.object({
  id: z.uuid(),
  keyEnding: z.string(),
  key: z.string().nullable().describe('Shown only once; null if the order was issued before.'),
  customerUrl: z.url().describe('The page where the customer sees and releases machines; for your e-mail.'),
});

const issueOne = operation({
  path: 'licenses/issue',
  scope: 'issue',
  summary: 'Issue the licenses of a sale',
  description:
    'Repeating an order issues nothing and returns the existing licenses without their keys, which are shown only once. ' +
    'With `rekey`, licenses of the order that no machine has activated get new keys, for a caller that lost the first response; ' +
    'their old keys stop working.',
  params: z.strictObject({
    plan: PlanName,
    orderRef: Reference,
    customerRef: CustomerRef.optional(),
    term: Term.optional().describe('By default that of the plan.'),
    count: z.int().min(1).max(mostAtOnce).default(1),
    machineLimit: MachineLimit.optional(),
    transferLimit: z.int().min(0).max(1_000).optional(),
    features: OwnFeatures.optional(),
    rekey: z.boolean().default(false),
  }),
  result: z.object({ plan: z.string(), isRepeated: z.boolean(), licenses: z.array(IssuedRecord) }),
  run: async (work, { term, rekey, ...order }) => {
    const { db, token } = work;
    const { product } = token;
    if ((await findPlan(db, order.plan, product)) === undefined)
      throw new Refused('unknown_plan', `there is no plan ${order.plan} (create it with license plan set)`);
    const { plan, licenses, isRepeated } = await issue(db, {
      ...{ ...order, product },
      ...(term !== undefined && { term: termOf(term) }),
    });
    const shown = [];
    for (const { id, hint, key } of licenses) {
      // Locks the license, so that no machine can activate it before its key is replaced.
      const isLost = key === null && rekey && (await lockLicense(db, { id })).activatedAt === null;
      const made = isLost ? await rotate(db, { id }) : undefined;
      const path = await linkTo(db, work.secrets, id, usualLinkSeconds);
      const customerUrl = work.baseUrl + path;
      shown.push({ id, keyEnding: made?.license.hint ?? hint, key: made?.key ?? key, customerUrl });
    }
    return { plan, isRepeated, licenses: shown };
  },
});

const list = operation({
  path: 'licenses/list',
  scope: 'read',
  summary: 'List licenses, newest first',
  params: z.strictObject({
    plan: PlanName.optional(),
    status: z.enum(['active', 'suspended', 'revoked']).optional(),
    customerRef: CustomerRef.optional(),
    orderRef: Reference.optional(),
    after: LicenseId.optional().describe('The last id of the previous page.'),
    limit: Limit,
  }),
  result: z.object({ items: z.array(LicenseRecord), nextAfter: z.uuid().nullable() }),
  run: async ({ db, token }, filter) => {
    const items = await listLicenses(db, { ...filter, product: token.product });
    const last = items.length === filter.limit ? items.at(-1)?.id : undefined;
    return { items: items.map(toRecord), nextAfter: last ?? null };
  },
});

const mostFound = 50;

const find = operation({
  path: 'licenses/find',
  scope: 'read',
  summary: 'Find licenses by order, customer or the end of the key',
  params: z
    .strictObject({
      orderRef: Reference.optional(),
      customerRef: CustomerRef.optional(),
      keyEnding: z
        .string()
        .min(4)
        .max(64)
        .optional()
        .describe('The last symbols of the key, at least four; the full key works too.'),
    })
    .refine(
      (named) => Object.values(named).filter((one) => one !== undefined).length === 1,
      'give one of orderRef, customerRef and keyEnding',
    ),
  result: z.object({ items: z.array(LicenseRecord) }),
  run: async ({ db, token }, { orderRef, customerRef, keyEnding }) => {
    const hint = keyEnding && endingOf(keyEnding);
    const filter = { product: token.product, orderRef, customerRef, hint, limit: mostFound };
    return { items: (await listLicenses(db, filter)).map(toRecord) };
  },
});

/** Returns the last four symbols of a typed key or of its end. It is parsed as leniently as whole keys. */
export const endingOf = (typed: string): string =>
  typed
    .replaceAll(/[^0-9a-z]/gi, '')
    .toUpperCase()
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1')
    .slice(-4);

const get = operation({
  path: 'licenses/get',
  scope: 'read',
  summary: 'Show a license and its machines',
  params: z.strictObject({ id: LicenseId }),
  result: z.object({ license: LicenseRecord, machines: z.array(MachineRecord) }),
  run: async (work, { id }) => ({
    license: toRecord(await ownLicense(work, id)),
    machines: await heldMachines(work.db, id),
  }),
});

const history = operation({
  path: 'licenses/history',
  scope: 'read',
  summary: 'Show the history of a license, and how often it was refused',
  params: z.strictObject({ id: LicenseId, limit: Limit }),
  result: z.object({ events: z.array(EventRecord), denials: z.array(DenialRecord) }),
  run: async (work, { id, limit }) => {
    await ownLicense(work, id);
    return {
      events: (await listEvents(work.db, id, limit)).map(({ actor, ...event }) => ({
        ...event,
        actor: EventRecord.shape.actor.parse(actor),
      })),
      denials: await listDenials(work.db, id, limit),
    };
  },
});

/** Defines an operation that changes one license and returns the changed license. */
const changing = <Shape extends z.ZodRawShape>(
  path: string,
  [summary, description]: readonly [string, string?],
  shape: Shape,
  run: (
    work: OperationContext,
    id: string,
    params: z.output<z.ZodObject<Shape & { id: typeof LicenseId }, z.core.$strict>>,
  ) => Promise<License>,
) =>
  operation({
    path: `licenses/${path}`,
    scope: 'change',
    ...{ summary, ...(description !== undefined && { description }) },
    params: z.strictObject({ id: LicenseId, ...shape }),
    result: One,
    run: async (work, params) => {
      const { id } = params as { id: string };
      await ownLicense(work, id);
      return { license: toRecord(await run(work, id, params)) };
    },
  });

const again = 'Repeating the same orderRef has no effect.';

/** Sets a new end of the license. Repeating the call with the same order changes nothing. */
const renewed = (
  { db }: OperationContext,
  id: string,
  term: PlanTerm,
  orderRef: string | undefined,
): Promise<License> => renew(db, { id }, term, orderRef);

const choiceOf = (slot: number | undefined) =>
  slot === undefined ? ({ kind: 'only' } as const) : ({ kind: 'slot', slot } as const);

const Slot = z
  .int()
  .min(1)
  .optional()
  .describe('The slot of the machine; needed if several machines hold the license.');

const link = operation({
  path: 'licenses/link',
  scope: 'issue',
  summary: 'Create a link where a customer can see and release the machines of a license',
  description:
    'Intended for the e-mail of the purchase. Anyone with the link can release machines; a new key for the license ends it.',
  params: z.strictObject({
    id: LicenseId,
    for: Span.optional().describe('How long the link is valid; the default is a year.'),
  }),
  result: z.object({ url: z.url() }),
  run: async (work, { id, for: span }) => {
    await ownLicense(work, id);
    const seconds = Math.min(secondsOf(span ?? '') ?? usualLinkSeconds, longestLinkSeconds);
    return { url: work.baseUrl + (await linkTo(work.db, work.secrets, id, seconds)) };
  },
});

export const licenseOperations = [
  ...[issueOne, list, find, get, history, link],
  changing(
    'suspend',
    ['Suspend the license: it is refused until it is resumed'],
    { reason: Reason.optional() },
    ({ db }, id, it) => suspend(db, { id }, it.reason ?? null),
  ),
  changing('resume', ['Resume a suspended license'], {}, ({ db }, id) => resume(db, { id })),
  changing('revoke', ['Revoke the license for good'], { reason: Reason.optional() }, ({ db }, id, it) =>
    revoke(db, { id }, it.reason ?? null),
  ),
  changing(
    'renew',
    ['Change the end of the license, for example after a paid renewal', again],
    { term: Term, orderRef: Reference.optional() },
    (work, id, it) => renewed(work, id, termOf(it.term), it.orderRef),
  ),
  changing(
    'extend',
    ['Extend the license by a duration; an expired one starts again from now', again],
    { for: Span, orderRef: Reference.optional() },
    (work, id, it) => renewed(work, id, { kind: 'for', seconds: secondsOf(it.for) ?? 0 }, it.orderRef),
  ),
  changing(
    'transfer',
    ["Transfer the license to another machine, within the plan's number of transfers"],
    { machineId: MachineId, slot: Slot, force: z.boolean().default(false) },
    ({ db, hasher }, id, { machineId, slot, force }) =>
      transfer(db, { id }, { machineId, hasher, isForced: force, choice: choiceOf(slot) }),
  ),
  changing(
    'release',
    ['Release the license from its machine; the next machine that activates it gets it'],
    { slot: Slot, all: z.boolean().default(false) },
    async ({ db }, id, { slot, all }) =>
      (await release(db, { id }, all ? { kind: 'all' } : choiceOf(slot))).license,
  ),
  changing(
    'resize',
    ['Set how many machines can hold it at the same time; current machines keep it'],
    { machineLimit: MachineLimit },
    ({ db }, id, { machineLimit }) => resize(db, { id }, machineLimit),
  ),
  changing(
    'entitle',
    ['Give the license its own features; machines get them with their next certificate'],
    { features: OwnFeatures },
    ({ db }, id, { features }) => entitle(db, { id }, () => features),
  ),
];
