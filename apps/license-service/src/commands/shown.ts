import { formatMinute } from '@muster/terminal';
import { formatFeatures } from '../features.ts';
import { formatMeters } from '../meters.ts';
import { type License, stateOf } from '../operators/license.ts';

const secondsPerDay = 86_400;

export const formatDuration = (seconds: number): string =>
  seconds % secondsPerDay === 0 ? `${seconds / secondsPerDay} days` : `${seconds} seconds`;

export function formatLicenseEnd({ expiresAt, durationSeconds }: License): string {
  if (expiresAt !== null) return formatMinute(expiresAt);
  return durationSeconds === null ? 'never' : `${formatDuration(durationSeconds)} from activation`;
}

export const formatMachineCount = (count: number): string =>
  count === 1 ? 'one machine' : `${count} machines`;

export const formatLeaseDuration = (seconds: number | null): string =>
  seconds === null ? '-' : formatDuration(seconds);

function formatMachineLine({
  machineLimit,
  machinesUsed,
  machineHint,
  boundAt,
  lastSeenAt,
}: License): string {
  const seen = `since ${formatMinute(boundAt)}, last seen ${formatMinute(lastSeenAt)}`;
  if (machineLimit > 1 || machinesUsed > 1)
    return `  machines   ${machinesUsed} of ${machineLimit}${boundAt === null ? '' : `, ${seen} (license machines lists them)`}`;
  return `  machine    ${boundAt === null ? 'none' : `${machineHint ?? '…'}, ${seen}`}`;
}

/** Formats the details of a license for people. */
export const formatLicenseLines = (license: License): string[] => [
  `License …${license.hint} (${license.id}), plan ${license.plan}: ${stateOf(license)}${license.reason === null ? '' : `, ${license.reason}`}`,
  `  expires    ${formatLicenseEnd(license)}`,
  formatMachineLine(license),
  ...(license.leaseSeconds === null
    ? []
    : [`  lease      ${formatDuration(license.leaseSeconds)} at a time`]),
  `  offline    ${license.offlineUntil === null ? 'no certificate was issued' : `with the last certificate until ${formatMinute(license.offlineUntil)}`}`,
  `  transfers  ${license.transfers} of ${license.transferLimit}`,
  `  features   ${formatFeatures(license.features)}`,
  ...(Object.keys(license.meters).length === 0 ? [] : [`  meters     ${formatMeters(license.meters)}`]),
  `  customer   ${license.customerRef ?? '-'}, order ${license.orderRef ?? '-'}`,
  `  issued     ${formatMinute(license.issuedAt)}, first activated ${formatMinute(license.activatedAt)}`,
];

/** Makes the output after a change: the changed license with its state. */
export const licenseOutput = (license: License, lines = formatLicenseLines(license)) => ({
  json: { license: { ...license, state: stateOf(license) } },
  lines,
});
