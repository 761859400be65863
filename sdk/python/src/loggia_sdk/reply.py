"""Successful results with more than data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from .encode import write
from .value_checks import check, check_count, check_optional

T = TypeVar("T")
Audience = Literal["user", "assistant"]


@dataclass
class Page:
    """Position of a list in a longer one. `count` is filled in if the data is a list; `cursor` is `None` on the last page."""

    count: int | None = None
    total: int | None = None
    cursor: str | None = None

    def __post_init__(self) -> None:
        check_count("Page", count=self.count, total=self.total)
        check_optional("Page", str, cursor=self.cursor)


@dataclass
class Next:
    """The call that should follow this one; without `facade`, to the plugin's own."""

    action: str
    params: dict[str, Any] = field(default_factory=dict)
    reason: str | None = None
    facade: str | None = None

    def __post_init__(self) -> None:
        check("Next", str, action=self.action)
        check_optional("Next", str, reason=self.reason, facade=self.facade)
        if self.params:
            write(self.params)


@dataclass
class Content:
    """One MCP content block, made by the class methods. `extras` are MCP's `annotations` and `_meta`."""

    kind: Literal["text", "image", "audio", "resource", "link"]
    text: str | None = None
    data: bytes | None = None
    mime_type: str | None = None
    uri: str = ""
    name: str = ""
    description: str | None = None
    extras: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check("Content", str, uri=self.uri, name=self.name)
        check_optional("Content", str, text=self.text, mime_type=self.mime_type, description=self.description)
        check_optional("Content", bytes, data=self.data)
        if self.kind == "text":
            check("Content", str, text=self.text)
        elif self.kind in ("image", "audio"):
            check("Content", str, mime_type=self.mime_type)
            check("Content", bytes, data=self.data)

    @classmethod
    def of_text(cls, text: str, **more: Any) -> Content:
        """A text block."""
        return _annotated(cls("text", text=text), **more)

    @classmethod
    def image(cls, data: bytes, mime_type: str, **more: Any) -> Content:
        """A picture: its bytes, not encoded, and its type."""
        return _annotated(cls("image", data=data, mime_type=mime_type), **more)

    @classmethod
    def audio(cls, data: bytes, mime_type: str, **more: Any) -> Content:
        """A sound: its bytes, not encoded, and its type."""
        return _annotated(cls("audio", data=data, mime_type=mime_type), **more)

    @classmethod
    def link(
        cls, uri: str, name: str, *, description: str | None = None, mime_type: str | None = None, **more: Any
    ) -> Content:
        """A resource elsewhere."""
        return _annotated(cls("link", uri=uri, name=name, description=description, mime_type=mime_type), **more)

    @classmethod
    def resource(cls, uri: str, body: str | bytes, *, mime_type: str | None = None, **more: Any) -> Content:
        """A resource in the reply itself."""
        text, data = (body, None) if isinstance(body, str) else (None, body)
        return _annotated(cls("resource", uri=uri, text=text, data=data, mime_type=mime_type), **more)


def _annotated(
    content: Content, *, audience: Audience | list[Audience] | None = None, priority: float | None = None, **extras: Any
) -> Content:
    annotations: dict[str, Any] = {}
    if audience is not None:
        annotations["audience"] = [audience] if isinstance(audience, str) else list(audience)
    if priority is not None:
        annotations["priority"] = min(max(float(priority), 0.0), 1.0)
    content.extras = ({"annotations": annotations} if annotations else {}) | extras
    if content.extras:
        write(content.extras)
    return content


@dataclass
class Reply(Generic[T]):
    """Data with a message, a page of a longer list, a suggested next call, or media. Annotate `-> Reply[list[Note]]`."""

    data: T
    message: str | None = None
    page: Page | None = None
    next: Next | None = None
    content: list[Content] = field(default_factory=list)

    def __post_init__(self) -> None:
        check_optional("Reply", str, message=self.message)
        check_optional("Reply", Page, page=self.page)
        check_optional("Reply", Next, next=self.next)
        check("Reply", list, tuple, content=self.content)
        for one in self.content:
            check("Reply", Content, content=one)
