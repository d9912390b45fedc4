import theme from 'vitepress/theme';
import { h, onMounted } from 'vue';
import Board from './board.vue';
import './colors.css';
import './diagrams.css';

/**
 * What the theme says otherwise to those who listen: a group of the sidebar is a button with another one in it, for the same,
 * and the search has another name than it shows.
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
  // Its words are its name, where there is room for them.
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
        // The search comes later than the page, and the sidebar with the page that it belongs to.
        new MutationObserver(mendNames).observe(document.body, { childList: true, subtree: true });
      });
      return () => h(theme.Layout, null, { 'home-hero-image': () => h(Board) });
    },
  },
};
