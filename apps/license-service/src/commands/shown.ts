import { type License, stateOf } from '../operators/license.ts';

export const dayOf = (time: string | null): string => time?.slice(0, 10) ?? '-';
export const minuteOf = (time: string | null): string => time?.slice(0, 16).replace('T', ' ') ?? '-';

/** Columns as wide as their widest cell. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  if (rows.length === 0) return ['None.'];
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

const secondsPerDay = 86_400;

export const spanOf = (seconds: number): string =>
  seconds % secondsPerDay === 0 ? `${seconds / secondsPerDay} days` : `${seconds} seconds`;

export function endOf({ expiresAt, durationSeconds }: License): string {
  if (expiresAt !== null) return minuteOf(expiresAt);
  return durationSeconds === null ? 'never' : `${spanOf(durationSeconds)} from activation`;
}

/** All about one license, for people. */
export const licenseLines = (license: License): string[] => [
  `License …${license.hint} (${license.id}), plan ${license.plan}: ${stateOf(license)}${license.reason === null ? '' : `, ${license.reason}`}`,
  `  ends       ${endOf(license)}`,
  `  machine    ${license.boundAt === null ? 'none' : `${license.machineHint ?? '…'}, since ${minuteOf(license.boundAt)}, last seen ${minuteOf(license.lastSeenAt)}`}`,
  `  offline    ${license.offlineUntil === null ? 'no certificate was given' : `until ${minuteOf(license.offlineUntil)} by the last certificate`}`,
  `  transfers  ${license.transfers} of ${license.transferLimit}`,
  `  customer   ${license.customerRef ?? '-'}, order ${license.orderRef ?? '-'}`,
  `  issued     ${minuteOf(license.issuedAt)}, first activated ${minuteOf(license.activatedAt)}`,
];

/** After a change: the license as it is now, with the state in words. */
export const shownLicense = (license: License, lines = licenseLines(license)) => ({
  json: { license: { ...license, state: stateOf(license) } },
  lines,
});
