// The colours chosen last time. No module: that would run after the first paint.
(() => {
  try {
    const theme = localStorage.getItem("newfound.theme");
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch { /* A browser without storage follows the system. */ }
})();
