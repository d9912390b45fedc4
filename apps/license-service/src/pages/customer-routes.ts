/** Routes of the customer page behind a mailed link. It lists the machines of a license and releases them. */
import { sql } from '@muster/driver';
import { formFieldsOf } from '@muster/http';
import { type FastifyInstance } from 'fastify';
import { type License } from '../operators/license.ts';
import { listHeldMachines } from '../operators/machines.ts';
import { type Db, inTransaction, RefusedError } from '../operators/transaction.ts';
import { listCurrentUsage } from '../operators/usage.ts';
import { downloadExpirySeconds, signedDownloadUrl } from '../releases/downloads.ts';
import { findEntitledRelease, findLatestStable } from '../releases/latest.ts';
import { customerPage } from './customer.ts';
import { sendPage } from './layout.ts';
import { licenseOfLink } from './links.ts';
import { parseVersion } from '../releases/records.ts';
import { type SupportPagesOptions } from './people.ts';
import { releaseByCustomer } from './release.ts';
import { requireOpenedVault, sendAnswerOrRefusal, slotOfForm, answerOfflineUpload } from './shared.ts';

const customerPagePath = '/my/';

const loadCustomerPageData = async (db: Db, license: License, link: string) => ({
  ...{ license, link, machines: await listHeldMachines(db, license.id) },
  usage: await listCurrentUsage(db, license),
  release: await findLatestStable(db, license.id),
});

export function addCustomerRoutes(app: FastifyInstance, options: SupportPagesOptions): void {
  app.get<{ Params: { link: string } }>(`${customerPagePath}:link`, async (request, reply) => {
    const { link } = request.params;
    const page = await inTransaction(options.pool, async (db) =>
      customerPage(
        await loadCustomerPageData(
          db,
          await licenseOfLink(db, requireOpenedVault(options).seals, link),
          link,
        ),
      ),
    );
    return sendPage(reply, page);
  });
  // The page has links to this path, because a signed address would expire while the page is open.
  app.get<{ Params: { link: string; version: string; name: string } }>(
    `${customerPagePath}:link/download/:version/:name`,
    async (request, reply) => {
      const { link, version, name } = request.params;
      const { seals } = requireOpenedVault(options);
      const release = await inTransaction(options.pool, async (db) => {
        const { id } = await licenseOfLink(db, seals, link);
        return parseVersion(version) && findEntitledRelease(db, id, version);
      });
      const isFile = release?.artifacts.some((one) => one.name === name) === true;
      const expiresSeconds = downloadExpirySeconds();
      const url = isFile ? signedDownloadUrl(seals, release, { version, name, expiresSeconds }) : null;
      if (url === null) throw new RefusedError('not_found', 'your license does not include this download');
      return reply.redirect(url);
    },
  );
  app.post<{ Params: { link: string } }>(`${customerPagePath}:link/release`, async (request, reply) => {
    const { link } = request.params;
    const page = await inTransaction(options.pool, async (db) => {
      const { id } = await licenseOfLink(db, requireOpenedVault(options).seals, link);
      const { license, offlineUntil } = await releaseByCustomer(db, id, slotOfForm(formFieldsOf(request)));
      return customerPage({
        ...(await loadCustomerPageData(db, license, link)),
        releasedMachine: { offlineUntil },
      });
    });
    return sendPage(reply, page);
  });
  app.post<{ Params: { link: string } }>(`${customerPagePath}:link/answer`, async (request, reply) => {
    const answered = await inTransaction(options.pool, async (db) => {
      const { id } = await licenseOfLink(db, requireOpenedVault(options).seals, request.params.link);
      await db.all(sql`select set_config('licenses.actor', 'the customer, by a file', true)`);
      return answerOfflineUpload(options, db, request, id);
    });
    return sendAnswerOrRefusal(reply, answered);
  });
}
