import { minuteOf } from '@muster/terminal';
import { featureWords } from '../features.ts';
import { type License, stateOf } from '../operators/license.ts';

const secondsPerDay = 86_400;

export const spanOf = (seconds: number): string =>
  seconds % secondsPerDay === 0 ? `${seconds / secondsPerDay} days` : `${seconds} seconds`;

export function endOf({ expiresAt, durationSeconds }: License): string {
  if (expiresAt !== null) return minuteOf(expiresAt);
  return durationSeconds === null ? 'never' : `${spanOf(durationSeconds)} from activation`;
}

export const machinesWords = (count: number): string => (count === 1 ? 'one machine' : `${count} machines`);

export const leaseWords = (seconds: number | null): string => (seconds === null ? '-' : spanOf(seconds));

function machineLine({ machineLimit, machinesUsed, machineHint, boundAt, lastSeenAt }: License): string {
  const seen = `since ${minuteOf(boundAt)}, last seen ${minuteOf(lastSeenAt)}`;
  if (machineLimit > 1 || machinesUsed > 1) {
    return `  machines   ${machinesUsed} of ${machineLimit}${boundAt === null ? '' : `, ${seen} (license machines lists them)`}`;
  }
  return `  machine    ${boundAt === null ? 'none' : `${machineHint ?? '…'}, ${seen}`}`;
}

/** Formats the details of a license for people. */
export const licenseLines = (license: License): string[] => [
  `License …${license.hint} (${license.id}), plan ${license.plan}: ${stateOf(license)}${license.reason === null ? '' : `, ${license.reason}`}`,
  `  ends       ${endOf(license)}`,
  machineLine(license),
  ...(license.leaseSeconds === null ? [] : [`  lease      ${spanOf(license.leaseSeconds)} at a time`]),
  `  offline    ${license.offlineUntil === null ? 'no certificate was issued' : `with the last certificate until ${minuteOf(license.offlineUntil)}`}`,
  `  transfers  ${license.transfers} of ${license.transferLimit}`,
  `  features   ${featureWords(license.features)}`,
  `  customer   ${license.customerRef ?? '-'}, order ${license.orderRef ?? '-'}`,
  `  issued     ${minuteOf(license.issuedAt)}, first activated ${minuteOf(license.activatedAt)}`,
];

/** Makes the output after a change: the changed license with its state. */
export const shownLicense = (license: License, lines = licenseLines(license)) => ({
  json: { license: { ...license, state: stateOf(license) } },
  lines,
});
