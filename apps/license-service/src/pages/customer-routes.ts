/** Routes of the customer page behind a mailed link. It lists the machines of a license and releases them. */
import { sql } from '@muster/driver';
import { formOf } from '@muster/http';
import { type FastifyInstance } from 'fastify';
import { type License } from '../operators/license.ts';
import { heldMachines } from '../operators/machines.ts';
import { type Db, inTransaction } from '../operators/transaction.ts';
import { customerPage } from './customer.ts';
import { sendPage } from './layout.ts';
import { licenseOfLink } from './links.ts';
import { type PeopleOptions } from './people.ts';
import { releaseByCustomer } from './release.ts';
import { openedNow, sendAnswered, slotOf, upload } from './shared.ts';

const linkPath = '/my/';

const shown = async (db: Db, license: License, link: string) => ({
  ...{ license, link, machines: await heldMachines(db, license.id) },
});

export function addCustomerRoutes(app: FastifyInstance, options: PeopleOptions): void {
  app.get<{ Params: { link: string } }>(`${linkPath}:link`, async (request, reply) => {
    const { link } = request.params;
    const page = await inTransaction(options.pool, async (db) =>
      customerPage(await shown(db, await licenseOfLink(db, openedNow(options).seals, link), link)),
    );
    return sendPage(reply, page);
  });
  app.post<{ Params: { link: string } }>(`${linkPath}:link/release`, async (request, reply) => {
    const { link } = request.params;
    const page = await inTransaction(options.pool, async (db) => {
      const { id } = await licenseOfLink(db, openedNow(options).seals, link);
      const { license, offlineUntil } = await releaseByCustomer(db, id, slotOf(formOf(request)));
      return customerPage({ ...(await shown(db, license, link)), released: { offlineUntil } });
    });
    return sendPage(reply, page);
  });
  app.post<{ Params: { link: string } }>(`${linkPath}:link/answer`, async (request, reply) => {
    const answered = await inTransaction(options.pool, async (db) => {
      const { id } = await licenseOfLink(db, openedNow(options).seals, request.params.link);
      await db.all(sql`select set_config('licenses.actor', 'the customer, by a file', true)`);
      return upload(options, db, request, id);
    });
    return sendAnswered(reply, answered);
  });
}
