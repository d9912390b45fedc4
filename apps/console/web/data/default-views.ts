/** The saved view with which the stories of a project open in this browser. */
const keyOf = (personId: string, projectKey: string | null): string =>
  `muster.view.${personId}.${projectKey ?? ''}`;

export const readDefaultView = (personId: string, projectKey: string | null): string | null =>
  localStorage.getItem(keyOf(personId, projectKey));

export function storeDefaultView(personId: string, projectKey: string | null, viewId: string | null): void {
  const key = keyOf(personId, projectKey);
  if (viewId === null) localStorage.removeItem(key);
  else localStorage.setItem(key, viewId);
}
