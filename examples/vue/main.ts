// The start of the page: everything else is in App.vue.

import { createApp } from 'vue';
import App from './App.vue';

createApp(App).mount('#app');
