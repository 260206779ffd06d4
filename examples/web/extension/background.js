// The service worker ends when nothing happens for a while, and a model with it: the page has the engine.
chrome.action.onClicked.addListener(() => chrome.tabs.create({ url: chrome.runtime.getURL("index.html") }));
