//! Icons: those of Lucide, as data of a crate, put together into one picture.

use std::fmt::{self, Display, Write as _};

use askama::filters::HtmlSafe;
use icondata_lu as lucide;

use crate::assets;

/// The paths of an icon by its name.
type Paths = (&'static str, &'static str);

/// Every icon that a page shows.
static ICONS: &[Paths] = &[
    ("activity", lucide::LuActivity.data),
    ("alarm-clock", lucide::LuAlarmClock.data),
    ("archive", lucide::LuArchive.data),
    ("arrow-left", lucide::LuArrowLeft.data),
    ("arrow-right", lucide::LuArrowRight.data),
    ("ban", lucide::LuBan.data),
    ("check", lucide::LuCheck.data),
    ("chevron-down", lucide::LuChevronDown.data),
    ("circle", lucide::LuCircle.data),
    ("circle-alert", lucide::LuCircleAlert.data),
    ("circle-check", lucide::LuCircleCheck.data),
    ("circle-dashed", lucide::LuCircleDashed.data),
    ("circle-dot", lucide::LuCircleDot.data),
    ("circle-pause", lucide::LuCirclePause.data),
    ("circle-play", lucide::LuCirclePlay.data),
    ("circle-slash", lucide::LuCircleSlash.data),
    ("circle-x", lucide::LuCircleX.data),
    ("clock", lucide::LuClock.data),
    ("columns-3", lucide::LuColumns3.data),
    ("corner-down-right", lucide::LuCornerDownRight.data),
    ("download", lucide::LuDownload.data),
    ("eye", lucide::LuEye.data),
    ("file-text", lucide::LuFileText.data),
    ("folder", lucide::LuFolder.data),
    ("git-branch", lucide::LuGitBranch.data),
    ("git-commit-horizontal", lucide::LuGitCommitHorizontal.data),
    ("git-pull-request", lucide::LuGitPullRequest.data),
    ("hand", lucide::LuHand.data),
    ("history", lucide::LuHistory.data),
    ("hourglass", lucide::LuHourglass.data),
    ("house", lucide::LuHouse.data),
    ("inbox", lucide::LuInbox.data),
    ("info", lucide::LuInfo.data),
    ("key-round", lucide::LuKeyRound.data),
    ("list", lucide::LuList.data),
    ("list-filter", lucide::LuListFilter.data),
    ("list-todo", lucide::LuListTodo.data),
    ("lock", lucide::LuLock.data),
    ("log-out", lucide::LuLogOut.data),
    ("menu", lucide::LuMenu.data),
    ("message-square", lucide::LuMessageSquare.data),
    ("network", lucide::LuNetwork.data),
    ("octagon-x", lucide::LuOctagonX.data),
    ("paperclip", lucide::LuPaperclip.data),
    ("pencil", lucide::LuPencil.data),
    ("play", lucide::LuPlay.data),
    ("plus", lucide::LuPlus.data),
    ("repeat", lucide::LuRepeat.data),
    ("rotate-ccw", lucide::LuRotateCcw.data),
    ("search", lucide::LuSearch.data),
    ("settings", lucide::LuSettings.data),
    ("stamp", lucide::LuStamp.data),
    ("sun-moon", lucide::LuSunMoon.data),
    ("tag", lucide::LuTag.data),
    ("target", lucide::LuTarget.data),
    ("terminal", lucide::LuTerminal.data),
    ("trash-2", lucide::LuTrash2.data),
    ("triangle-alert", lucide::LuTriangleAlert.data),
    ("undo-2", lucide::LuUndo2.data),
    ("users", lucide::LuUsers.data),
    ("wallet", lucide::LuWallet.data),
    ("wrench", lucide::LuWrench.data),
    ("x", lucide::LuX.data),
    ("zap", lucide::LuZap.data),
];

/// An icon. It says nothing by itself: words stand beside it.
pub(crate) struct Icon {
    name: &'static str,
    is_small: bool,
}

impl Icon {
    /// The icon of this name; one of which there is none shows nothing.
    pub(crate) fn named(name: &str, is_small: bool) -> Self {
        let found = ICONS.iter().find(|(its, _)| *its == name);
        debug_assert!(found.is_some(), "there is no icon {name}");
        Self {
            name: found.map_or("", |(name, _)| name),
            is_small,
        }
    }
}

impl HtmlSafe for Icon {}

impl Display for Icon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = if self.is_small { " i-s" } else { "" };
        let (sprite, name) = (assets::icons(), self.name);
        write!(
            f,
            r#"<svg class="i{size}" aria-hidden="true"><use href="{sprite}#{name}"/></svg>"#
        )
    }
}

/// The picture with all icons.
pub(crate) fn sprite() -> String {
    let mut sprite = String::from(r#"<svg xmlns="http://www.w3.org/2000/svg">"#);
    for (name, paths) in ICONS {
        let paths = paths.replace('\n', "");
        let _infallible = write!(
            sprite,
            r#"<symbol id="{name}" viewBox="0 0 24 24">{paths}</symbol>"#
        );
    }
    sprite.push_str("</svg>");
    sprite
}
