/** Selects the light, dark or system theme. The choice is stored in the browser, since it is not secret. */
export const themes = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const themeStorageKey = 'muster.theme';

export const readStoredTheme = (): Theme => {
  const kept = localStorage.getItem(themeStorageKey);
  return themes.find((theme) => theme === kept) ?? 'auto';
};

export function applyTheme(theme: Theme): void {
  if (theme === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(themeStorageKey, theme);
  applyTheme(theme);
}
