import theme from 'vitepress/theme';
import { h } from 'vue';
import Board from './board.vue';
import './colors.css';
import './diagrams.css';

export default {
  extends: theme,
  Layout: () => h(theme.Layout, null, { 'home-hero-image': () => h(Board) }),
};
