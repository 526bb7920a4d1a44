// A click on the extension's icon opens the panel.

chrome.sidePanel.setPanelBehavior({ openPanelOnActionClick: true });
