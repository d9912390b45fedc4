/**
 * Removes the tokens of the person who started the runner from its environment, so that no program it starts
 * inherits them.
 */

/** Credentials of forges that git and the runner's own calls may use. */
export const forgeTokenVariables = [
  ...['GH_TOKEN', 'GITHUB_TOKEN', 'GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN'],
  ...['GITLAB_TOKEN', 'GITLAB_ACCESS_TOKEN', 'GITEA_TOKEN', 'FORGEJO_TOKEN'],
];

const removedSecrets = new Map<string, string>();

/** Removes the tokens from the environment of this process. Call it once the connection to Muster is known. */
export function removeSecretsFromEnvironment(): void {
  for (const name of ['MUSTER_TOKEN', ...forgeTokenVariables]) {
    const value = process.env[name];
    if (value === undefined) continue;
    removedSecrets.set(name, value);
    // oxlint-disable-next-line typescript/no-dynamic-delete -- an environment variable is only removed by delete
    delete process.env[name];
  }
}

/** Returns the value of an environment variable as it was when the runner started. */
export const originalEnvironmentValue = (name: string): string | undefined =>
  removedSecrets.get(name) ?? process.env[name];

const secretNamePattern = /TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|PRIVATE|API_?KEY|ACCESS_?KEY/i;

/** Returns the tokens of the caller, and the values of variables whose names say that they are secrets. */
export const knownSecrets = (): string[] => [
  ...removedSecrets.values(),
  ...Object.entries(process.env).flatMap(([name, value]) =>
    value !== undefined && secretNamePattern.test(name) ? [value] : [],
  ),
];
