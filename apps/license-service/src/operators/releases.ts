/** Publishes, lists and yanks releases, and sets which of them licenses may download. */
import { newId, sql } from '@muster/driver';
import {
  parseVersion,
  type ReleaseArtifact,
  type ReleaseChannel,
  type UpdatePolicy,
} from '../releases/records.ts';
import { downloadsUrlProblem, type DownloadSettings } from '../releases/downloads.ts';
import { updateLicense } from './change.ts';
import { type License, type LicenseRef, lockLicense } from './license.ts';
import { getProduct } from './products.ts';
import { type Db, RefusedError } from './transaction.ts';

export interface ProductRelease {
  readonly id: string;
  readonly product: string;
  readonly version: string;
  readonly channel: ReleaseChannel;
  readonly notesUrl: string | null;
  readonly artifacts: ReleaseArtifact[];
  readonly publishedAt: string;
  readonly yankedAt: string | null;
  readonly yankReason: string | null;
}

const releaseColumnsSql = sql`id, product, version, channel, notes_url as "notesUrl", artifacts, published_at as "publishedAt",
  yanked_at as "yankedAt", yank_reason as "yankReason"`;

const maxVersionNumber = 2 ** 31 - 1;
export const maxArtifacts = 32;

/** Publishes a release. Its version and its files never change, so the same call again returns it. */
export async function publishRelease(
  db: Db,
  release: Pick<ProductRelease, 'product' | 'version' | 'channel' | 'notesUrl'> & {
    readonly artifacts: readonly ReleaseArtifact[];
  },
): Promise<{ release: ProductRelease; isRepeated: boolean }> {
  const { product, version, channel, notesUrl, artifacts } = release;
  await getProduct(db, product);
  const parsed = parseVersion(version);
  if (parsed === undefined)
    throw new RefusedError(
      'version',
      'a version must follow Semantic Versioning with at most 100 characters, such as 1.4.0 or 2.0.0-beta.1',
    );
  const { major, minor, patch } = parsed;
  if (Math.max(major, minor, patch) > maxVersionNumber)
    throw new RefusedError('version', 'the numbers of this version are too large');
  if (channel === 'stable' && parsed.prerelease.length > 0)
    throw new RefusedError('version', 'a pre-release cannot be in the channel stable');
  if (artifacts.length === 0 || artifacts.length > maxArtifacts)
    throw new RefusedError('artifacts', `a release has 1 to ${maxArtifacts} files`);
  if (new Set(artifacts.map(({ name }) => name)).size < artifacts.length)
    throw new RefusedError('artifacts', 'two files have the same name');
  const files = JSON.stringify(artifacts);
  const made = await db.find(
    sql<ProductRelease>`insert into licenses.releases (id, product, version, major, minor, patch, channel, notes_url, artifacts)
      values (${newId()}, ${product}, ${version}, ${major}, ${minor}, ${patch}, ${channel}, ${notesUrl}, ${files}::jsonb)
      on conflict do nothing returning ${releaseColumnsSql}`,
  );
  if (made !== undefined) return { release: made, isRepeated: false };
  const same = await db.find(
    sql<ProductRelease>`select ${releaseColumnsSql} from licenses.releases where product = ${product} and version = ${version}
      and channel = ${channel} and notes_url is not distinct from ${notesUrl} and artifacts = ${files}::jsonb`,
  );
  if (same === undefined)
    throw new RefusedError(
      'version_exists',
      `${version} was already published with other files, another channel or other build metadata`,
    );
  return { release: same, isRepeated: true };
}

/** Lists the releases of a product, the last published first, after the release with the id `after`. */
export const listReleases = (
  db: Db,
  { product, after, limit }: { product: string; after?: string | undefined; limit: number },
): Promise<ProductRelease[]> =>
  db.all(sql<ProductRelease>`select ${releaseColumnsSql} from licenses.releases where product = ${product}
     ${after === undefined ? sql`` : sql`and id < (select id from licenses.releases where product = ${product} and version = ${after})`}
     order by id desc limit ${limit}`);

/** Stops offering a release. */
export async function yankRelease(
  db: Db,
  { product, version, reason }: { product: string; version: string; reason: string | null },
): Promise<ProductRelease> {
  const yanked = await db.find(
    sql<ProductRelease>`update licenses.releases set yanked_at = coalesce(yanked_at, clock_timestamp()),
        yank_reason = coalesce(yank_reason, ${reason})
      where product = ${product} and version = ${version} returning ${releaseColumnsSql}`,
  );
  if (yanked === undefined) throw new RefusedError('unknown_release', `${product} has no release ${version}`);
  return yanked;
}

/** Sets the update policy of a license; null uses that of its plan. */
export async function setLicenseUpdates(
  db: Db,
  ref: LicenseRef,
  updates: UpdatePolicy | null,
): Promise<License> {
  const license = await lockLicense(db, ref);
  return updateLicense(db, license, 'entitled', { set: sql`updates = ${updates}`, data: { updates } });
}

/** Sets the address of files of a product, or a new secret that signs it. */
export async function setDownloads(
  db: Db,
  product: string,
  { downloadsUrl, isNewKey = false }: { downloadsUrl?: string | null | undefined; isNewKey?: boolean },
): Promise<DownloadSettings> {
  await getProduct(db, product);
  const problem = typeof downloadsUrl === 'string' ? downloadsUrlProblem(downloadsUrl) : undefined;
  if (problem !== undefined) throw new RefusedError('downloads_url', `the address of files ${problem}`);
  return db.one(
    sql<DownloadSettings>`update licenses.products set
        downloads_url = ${downloadsUrl === undefined ? sql`downloads_url` : sql`${downloadsUrl}`},
        download_key_version = download_key_version + ${isNewKey ? 1 : 0}
      where name = ${product}
      returning name as product, downloads_url as "downloadsUrl", download_key_version as "downloadKeyVersion"`,
  );
}
