import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app/console.tsx';
import { Proven } from './app/proven.tsx';
import { applyTheme, themeNow } from './app/theme.ts';
import { provenPath } from './data/proof.ts';

applyTheme(themeNow());
const place = document.getElementById('root');
if (place === null) throw new Error('the page has no root');
createRoot(place).render(
  <StrictMode>{globalThis.location.pathname === provenPath ? <Proven /> : <App />}</StrictMode>,
);
