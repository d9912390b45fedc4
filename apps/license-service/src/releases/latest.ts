/** Finds the latest release that a license may download, for its machines and for the customer's page. */
import { type Pool, sql } from '@muster/driver';
import semver from 'semver';
import { activationRefusal, notActivatedError, unknownKeyError } from '../activation/answers.ts';
import { type ActivationRequest } from '../activation/question.ts';
import { type RecordedResponse } from '../activation/recorded.ts';
import { checkLatest } from '../activation/statements.ts';
import { runQuery } from '../database.ts';
import { type Db } from '../operators/transaction.ts';
import { type DownloadSettings, downloadExpirySeconds, signedDownloadUrl } from './downloads.ts';
import {
  type LatestParams,
  type LatestResult,
  type ReleaseArtifact,
  type ReleaseChannel,
  releaseChannels,
} from './records.ts';

/** A release with the settings that sign the addresses of its files. */
export interface DownloadableRelease extends DownloadSettings {
  readonly version: string;
  readonly channel: ReleaseChannel;
  readonly publishedAt: string;
  readonly notesUrl: string | null;
  readonly artifacts: readonly ReleaseArtifact[];
}

const releaseSql = (licenseId: string, version: string) =>
  sql<DownloadableRelease>`select r.version, r.channel, r.published_at as "publishedAt", r.notes_url as "notesUrl", r.artifacts, r.product,
       p.downloads_url as "downloadsUrl", p.download_key_version as "downloadKeyVersion"
     from licenses.entitled_releases r join licenses.products p on p.name = r.product
     where r.license_id = ${licenseId} and r.version = ${version}`;

/** Returns a release if the license may download it. */
export const findEntitledRelease = (db: Db, licenseId: string, version: string) =>
  db.find(releaseSql(licenseId, version));

/** Returns the latest stable release that the license may download. */
export async function findLatestStable(db: Db, licenseId: string): Promise<DownloadableRelease | undefined> {
  const newest = await db.find(
    sql<{ version: string }>`select version from licenses.entitled_releases
      where license_id = ${licenseId} and channel = 'stable' order by major desc, minor desc, patch desc, id desc limit 1`,
  );
  return newest && findEntitledRelease(db, licenseId, newest.version);
}

/** Returns the channel and the more stable ones. */
const channelsUpTo = (channel: ReleaseChannel): readonly ReleaseChannel[] =>
  releaseChannels.slice(0, releaseChannels.indexOf(channel) + 1);

/** Answers a machine that holds the license with the latest release that it may download. */
export async function findLatest(
  { pool, seals }: { readonly pool: Pool; readonly seals: () => readonly (string | Buffer)[] },
  { key, machineId, claim, extra, reply }: ActivationRequest<LatestParams>,
): Promise<RecordedResponse> {
  const { channel, platform, constraint } = extra;
  const seen = await checkLatest(pool, claim, {
    channels: channelsUpTo(channel),
    platform: platform ?? null,
  });
  if (seen === undefined) throw unknownKeyError();
  const { id, state, holder, versions } = seen;
  reply.header('license-state', state);
  const isEntitled = holder && (state === 'active' || (state === 'expired' && versions.length > 0));
  if (!isEntitled) throw activationRefusal(seen) ?? notActivatedError();
  const [version] = versions
    .filter(
      (one) =>
        constraint === undefined ||
        semver.satisfies(one, constraint, { includePrerelease: channel !== 'stable' }),
    )
    .sort(semver.rcompare);
  const [found] = version === undefined ? [] : await runQuery(pool, releaseSql(id, version));
  const release = found === undefined ? null : toLatestRelease(found, seals(), platform);
  return { licenseId: id, body: { success: true, license: { key, machineId }, release } };
}

function toLatestRelease(
  release: DownloadableRelease,
  seals: readonly (string | Buffer)[],
  platform: string | undefined,
): LatestResult['release'] {
  const { version, channel, publishedAt, notesUrl, artifacts } = release;
  const expiresSeconds = downloadExpirySeconds();
  return {
    ...{ version, channel, publishedAt, notesUrl },
    artifacts: artifacts
      .filter((one) => platform === undefined || one.platform === platform)
      .map((one) => ({
        ...one,
        url: signedDownloadUrl(seals, release, { version, name: one.name, expiresSeconds }),
      })),
    urlsExpireAt: new Date(expiresSeconds * 1_000).toISOString(),
  };
}
