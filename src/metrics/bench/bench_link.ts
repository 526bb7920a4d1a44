// Looks for `?bench=NAME` in the page's address, and only then loads the card.

if (new URLSearchParams(location.search).has('bench')) void import('./bench_card');
