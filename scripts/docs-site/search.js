// Search in all pages, which pages.js holds. Every word must be in a page; words of its title weigh most.
const field = document.getElementById('search');
const list = document.getElementById('found');
const SHOWN = 8;

function score(page, words) {
  const title = page.title.toLowerCase();
  const text = page.text.toLowerCase();
  let sum = 0;
  for (const word of words) {
    const times = text.split(word).length - 1;
    if (times === 0 && !title.includes(word)) return 0;
    sum += Math.min(times, 20) + (title.includes(word) ? 50 : 0);
  }
  return sum;
}

function excerpt(page, word) {
  const at = Math.max(0, page.text.toLowerCase().indexOf(word) - 40);
  return `${at > 0 ? '…' : ''}${page.text.slice(at, at + 120)}…`;
}

function search() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found =
    words.length === 0
      ? []
      : window.PAGES.map((page) => ({ page, score: score(page, words) }))
          .filter((one) => one.score > 0)
          .sort((a, b) => b.score - a.score)
          .slice(0, SHOWN);
  const items = found.map(({ page }) => {
    const item = document.createElement('li');
    const link = document.createElement('a');
    link.href = `${document.body.dataset.up}/${page.path}`;
    link.textContent = page.title;
    const text = document.createElement('p');
    text.textContent = excerpt(page, words[0]);
    item.append(link, text);
    return item;
  });
  if (words.length > 0 && items.length === 0) {
    const nothing = document.createElement('li');
    nothing.textContent = 'No page has all of these words.';
    items.push(nothing);
  }
  list.replaceChildren(...items);
}

field.addEventListener('input', search);
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== field) {
    event.preventDefault();
    field.focus();
  } else if (event.key === 'Escape') {
    field.value = '';
    search();
  } else if (event.key === 'Enter' && document.activeElement === field) {
    list.querySelector('a')?.click();
  }
});
