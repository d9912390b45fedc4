import theme from 'vitepress/theme';
import { h, onMounted } from 'vue';
import Board from './board.vue';
import '@muster/http/look/tokens.css';
import './colors.css';
import './diagrams.css';

/**
 * Corrects what the theme exposes to screen readers. A group of the sidebar is a button that contains a
 * second button for the same action, and the label of the search differs from its visible text.
 */
function mendNames() {
  for (const caret of document.querySelectorAll('.VPSidebarItem > .item[role="button"] > .caret')) {
    caret.removeAttribute('role');
    caret.removeAttribute('tabindex');
    caret.removeAttribute('aria-label');
    caret.setAttribute('aria-hidden', 'true');
  }
  // The theme marks no main landmark on its home page and on the page for a missing address.
  const content = document.querySelector('.VPContent');
  if (content?.querySelector('main') === null) content.setAttribute('role', 'main');
  else content?.removeAttribute('role');
  // The visible text is the accessible name, if there is room for it.
  for (const button of document.querySelectorAll('.DocSearch-Button')) {
    if (button.innerText.trim() === '') button.setAttribute('aria-label', 'Search');
    else button.removeAttribute('aria-label');
  }
}

export default {
  extends: theme,
  Layout: {
    setup() {
      onMounted(() => {
        mendNames();
        // The search is added after the page, and the sidebar with the page that it belongs to.
        new MutationObserver(mendNames).observe(document.body, { childList: true, subtree: true });
      });
      return () => h(theme.Layout, null, { 'home-hero-image': () => h(Board) });
    },
  },
};
